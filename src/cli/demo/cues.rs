//! The automatic operator's script: which calls will wait, what it does with each, and what may come of it.

/// What the operator does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Approve,
    Deny(&'static str),
    /// Changes the arguments, then approves the changed card.
    Edit(&'static str),
    LetBe,
}

/// One call the operator expects, by its tool and what its arguments show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cue {
    pub(super) tool: &'static str,
    pub(super) shows: &'static str,
    pub(super) act: Act,
    /// Everything that is to change in the workspace.
    pub(super) effects: &'static [&'static str],
}

const fn cue(tool: &'static str, shows: &'static str, act: Act, effects: &'static [&'static str]) -> Cue {
    Cue { tool, shows, act, effects }
}

/// Any call that waits without a cue is a fault: so this also says which calls must not ask.
pub(super) const ALL: [Cue; 12] = [
    cue("write_file", "reply-ada", Act::Approve, &["drafts/reply-ada.md appears"]),
    cue("write_file", "reply-grace", Act::Approve, &["drafts/reply-grace.md appears"]),
    cue("write_file", "/report.md\"", Act::Approve, &["report.md changes"]),
    cue("write_file", "/notes.md\"", Act::Deny("These notes are written by hand. Put your version beside them."), &[]),
    cue("write_file", "notes-suggestion.md", Act::Approve, &["notes-suggestion.md appears"]),
    cue("move_file", "archive/", Act::Approve, &["drafts/todo.md is gone", "archive/todo.md appears"]),
    cue("read_query", "DELETE", Act::Deny("This deletes rows through the read tool."), &[]),
    cue("cleanup_sessions", "idle_days", Act::Edit(r#"{"idle_days": 30}"#), &["sessions: 5 rows -> 2"]),
    cue("write_query", "UPDATE", Act::Approve, &["orders: rows change"]),
    cue("run_job", "0.002", Act::Approve, &["jobs/run-1.json appears"]),
    cue("get_environment", "", Act::Deny("The agent has no business with credentials."), &[]),
    cue("delete_file", "plan-2024.md", Act::LetBe, &[]),
];

//! Which view is shown in which state: as a snapshot at each of the three sizes, or by a test that looks for itself. What is
//! missing is a hole in the list of screens.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// How a state of a view is shown.
#[derive(Clone, Copy)]
enum Shown {
    /// Snapshots of this name at every size; without colours they say the same.
    Shots(&'static str),
    /// A test of this name.
    Test(&'static str),
    /// The view has no such state.
    Never,
}
use Shown::{Never, Shots, Test};

/// A view in the states empty, one, many, long, clipped, hostile.
type View = (&'static str, [Shown; 6]);

const HOSTILE_LISTS: Shown = Test("hostile_text_in_every_list_and_sheet");

const VIEWS: [View; 20] = [
    (
        "Waiting",
        [
            Shots("none_waiting"),
            Shots("one"),
            Shots("many"),
            Shots("queue_long"),
            Shots("groups"),
            Shots("queue_hostile"),
        ],
    ),
    (
        "card",
        [
            Test("no_arguments_are_called_none"),
            Shots("danger_read"),
            Shots("unfolded"),
            Shots("long"),
            Shots("clipped"),
            Shots("hostile"),
        ],
    ),
    (
        "tree",
        [Never, Test("arguments_as_a_tree"), Shots("unfolded"), Shots("folded"), Shots("folded"), Shots("folded")],
    ),
    (
        "preview",
        [
            Test("what_could_not_be_seen_is_said"),
            Shots("statements"),
            Shots("commands"),
            Test("long_diffs_say_how_much_is_left_out"),
            Shots("diff"),
            Shots("hits"),
        ],
    ),
    ("edit", [Never, Shots("edited"), Never, Shots("diff"), Shots("edited"), Shots("edited_hostile")]),
    ("diff", [Never, Shots("diff"), Never, Shots("diff"), Shots("diff"), Shots("diff_hostile")]),
    (
        "batch",
        [Never, Never, Shots("batch"), Test("a_long_list_is_read_to_its_end"), Shots("batch"), Shots("batch_hostile")],
    ),
    (
        "question",
        [
            Never,
            Shots("confirm"),
            Shots("word"),
            Shots("reason"),
            Shots("confirm"),
            Test("the_makers_and_questions_of_a_hostile_call_are_tame"),
        ],
    ),
    (
        "Activity",
        [
            Test("empty_activity_teaches"),
            Never,
            Shots("activity"),
            Test("activity_read_back"),
            Shots("activity"),
            Shots("activity"),
        ],
    ),
    (
        "Log",
        [
            Shots("log_none"),
            Shots("log_hostile"),
            Shots("log_many"),
            Test("a_million_records_are_walked_with_a_few_in_memory"),
            Shots("log_searched"),
            Shots("log_hostile"),
        ],
    ),
    ("record", [Never, Shots("record"), Never, Test("a_record_in_full"), Shots("record"), HOSTILE_LISTS]),
    (
        "Tools",
        [Shots("tools_none"), Never, Shots("tools_many"), Shots("tools_changed"), Shots("tools_many"), HOSTILE_LISTS],
    ),
    ("tool", [Never, Shots("tool"), Never, Shots("tool_changed"), Shots("tool"), HOSTILE_LISTS]),
    (
        "Rules",
        [
            Shots("rules_none"),
            Shots("rule"),
            Shots("rules_many"),
            Shots("rules_granted"),
            Shots("rules_broken"),
            HOSTILE_LISTS,
        ],
    ),
    (
        "rule maker",
        [
            Test("what_can_not_be_granted_says_why_and_offers_none"),
            Shots("past_rule"),
            Shots("grant_maker"),
            Test("a_rule_is_written_only_once_its_whole_text_was_on_screen"),
            Shots("policy_review"),
            Test("the_makers_and_questions_of_a_hostile_call_are_tame"),
        ],
    ),
    (
        "review",
        [
            Never,
            Shots("review_program"),
            Never,
            Shots("review_definition"),
            Shots("policy_review"),
            Shots("review_hostile"),
        ],
    ),
    ("Servers", [Shots("servers_none"), Shots("server"), Shots("servers_many"), Never, Shots("server"), HOSTILE_LISTS]),
    (
        "palette",
        [Shots("palette_none"), Shots("palette_typed"), Shots("palette"), Never, Shots("palette"), HOSTILE_LISTS],
    ),
    ("help", [Never, Never, Shots("help"), Never, Shots("help"), Never]),
    (
        "header and banners",
        [Shots("no_wrapper"), Shots("tour"), Shots("banners"), Never, Shots("banners"), Shots("settled")],
    ),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/screens")
}

#[test]
fn every_view_is_shown_in_every_state_it_has() {
    let snapshots: BTreeSet<String> = fs::read_dir(folder().join("snapshots"))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".snap")?.rsplit("__").next()?.to_owned()))
        .collect();
    let code: String = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let mut missing = Vec::new();
    for (view, states) in VIEWS {
        for (state, shown) in ["empty", "one", "many", "long", "clipped", "hostile"].into_iter().zip(states) {
            match shown {
                Never => {}
                Test(name) if code.contains(&format!("#[test]\nfn {name}()")) => {}
                Test(name) => missing.push(format!("{view}, {state}: no test {name}")),
                Shots(name) => {
                    for size in ["80x24", "120x40", "40x12"] {
                        if !snapshots.contains(&format!("{name}_{size}")) {
                            missing.push(format!("{view}, {state}: no snapshot {name} at {size}"));
                        }
                    }
                }
            }
        }
    }
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

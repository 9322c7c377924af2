//! What `doctor` reports of hosts' lists: every server that a host starts without mcp-approve.

use super::{Check, Fix, broken, good, note};
use crate::cli::hosts_home::HostsHome;
use crate::hosts::{self, Lists, Start};

/// Looks at the lists of every known host, for this user and this folder.
pub(super) fn checks(hosts: &HostsHome, is_strict: bool) -> Vec<Check> {
    match hosts.search() {
        Ok(search) => of(&hosts::lists(&search.files()), is_strict),
        Err(error) => vec![unseen(format!("their lists of servers were not looked at: {error}"), is_strict)],
    }
}

/// A list that could not be read: --strict counts its servers as unwrapped.
fn unseen(what: String, is_strict: bool) -> Check {
    if is_strict {
        let hint = "make it readable: what it starts may be unwrapped, so --strict ends with 1";
        return broken("hosts", what, Some(hint.to_owned()));
    }
    note("hosts", what)
}

fn of(lists: &Lists, is_strict: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    for server in &lists.servers {
        let file = server.file.display();
        let project = server.project.as_ref().map(|project| format!(", for {project}")).unwrap_or_default();
        let name = format!("{} of {} ({file}{project})", server.name, server.host);
        checks.push(match server.start {
            Start::Wrapped | Start::Remote => continue,
            Start::Unwrapped => Check {
                fix: Some(Fix::Install),
                ..note("hosts", format!("{name} is NOT wrapped: none of its calls is held or recorded"))
            },
            Start::Elsewhere => {
                let what = format!("{name} is NOT wrapped: none of its calls is held or recorded");
                let hint = Some(
                    "write its command into that file, or turn it off: `install` finds no command to wrap".to_owned(),
                );
                if is_strict { broken("hosts", what, hint) } else { Check { hint, ..note("hosts", what) } }
            }
            Start::Observed => Check {
                hint: Some("remove `--observe` once you have rules".to_owned()),
                ..note("hosts", format!("{name} is only observed: every call passes"))
            },
        });
    }
    let remote = lists.servers.iter().filter(|server| server.start == Start::Remote).count();
    if remote > 0 {
        let what = format!(
            "servers reached over the network: {remote}; mcp-approve holds calls on pipes, and does not see them"
        );
        checks.push(note("hosts", what));
    }
    checks.extend(lists.unread.iter().map(|one| {
        let what = format!("the list of {} cannot be read ({}: {})", one.host, one.file.display(), one.why);
        unseen(what, is_strict)
    }));
    if checks.is_empty() {
        checks.push(match lists.files {
            0 => note("hosts", "no host's list of servers was found"),
            files => {
                let servers = lists.servers.len();
                good("hosts", format!("every server they start is wrapped (servers: {servers}, lists: {files})"))
            }
        });
    }
    checks
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::{State, word};
    use super::of;
    use crate::hosts::{Listed, Lists, Start, Unread};

    fn listed(start: Start) -> Listed {
        let project = Some("/work".to_owned());
        Listed {
            host: "Cursor",
            file: PathBuf::from("mcp.json"),
            name: "git".to_owned(),
            project,
            start,
            wrapping: None,
        }
    }

    #[test]
    fn what_is_not_wrapped_is_told_by_name_with_how_to_mend_it() {
        let said = |servers: Vec<Listed>, files| {
            let unread = Vec::new();
            let checks = of(&Lists { servers, unread, files }, false);
            checks.iter().map(|one| format!("{} {}", word(one.state), one.what)).collect::<Vec<_>>().join("\n")
        };
        assert!(said(Vec::new(), 0).starts_with("note no host's list of servers was found"));
        assert_eq!(
            said(vec![listed(Start::Wrapped)], 1),
            "ok every server they start is wrapped (servers: 1, lists: 1)"
        );
        let bare = said(vec![listed(Start::Wrapped), listed(Start::Unwrapped)], 1);
        assert!(bare.starts_with("note git of Cursor (mcp.json, for /work) is NOT wrapped"), "{bare}");
        assert!(said(vec![listed(Start::Elsewhere)], 1).contains("is NOT wrapped"));
        assert!(said(vec![listed(Start::Observed)], 1).contains("only observed"));
        assert!(said(vec![listed(Start::Remote)], 1).contains("over the network: 1"));
        let unread = Unread { host: "Zed", file: PathBuf::from("s.json"), why: "no JSON".to_owned() };
        let checks = of(&Lists { unread: vec![unread], files: 1, ..Lists::default() }, false);
        assert!(checks[0].state == State::Note && checks[0].what.contains("Zed cannot be read (s.json: no JSON)"));
    }
}

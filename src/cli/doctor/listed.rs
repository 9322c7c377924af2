//! What `doctor` says of the servers that hosts list: not wrapped, or otherwise than the operator thinks.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Check, Fix, State, good, note, open};
use crate::cli::hosts::HostsHome;
use crate::home::{config, places::Places};
use crate::hosts::{self, Listed, Lists, Program, Start, Wrapping, program};

const LEAVE: &str = "put its name into `allow-unwrapped` of config.toml, if it is meant to be so";

pub(super) fn checks(hosts_home: &HostsHome, places: &Places) -> Vec<Check> {
    let unreadable = "make it readable: what it starts may be unwrapped";
    let search = match hosts_home.search() {
        Ok(search) => search,
        Err(error) => {
            return vec![open("hosts", format!("their lists of servers were not looked at: {error}"), unreadable)];
        }
    };
    let found = search.files();
    let lists = hosts::lists(&found);
    // What is wrong with config.toml has a check of its own.
    let allowed = config::allow_unwrapped(places).unwrap_or_default();
    let mut checks = of_servers(&lists, &allowed, places);
    checks.extend(lists.unread.iter().map(|one| {
        let what = format!("the list of {} cannot be read ({}: {})", one.host, one.file.display(), one.why);
        open("hosts", what, unreadable)
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
    let unset = search.unset(&found);
    if hosts_home.dir.is_none() && !unset.is_empty() {
        let what = "these move a host's list and are not set here, so a host that is started with one is not seen";
        checks.push(note("hosts", format!("{what}: {}", unset.join(", "))));
    }
    checks
}

fn of_servers(lists: &Lists, allowed: &[String], places: &Places) -> Vec<Check> {
    let mut checks = Vec::new();
    // One look at each program, however many servers it wraps.
    let mut programs = BTreeMap::new();
    for server in &lists.servers {
        let is_allowed = allowed.contains(&server.name);
        let name = named(server);
        let unseen = "none of its calls is held or recorded";
        let check = match (server.start, &server.wrapping) {
            (Start::Wrapped | Start::Observed, Some(wrapping)) => {
                let program = programs.entry(&wrapping.program).or_insert_with(|| program(&wrapping.program));
                checks.extend(of_program(program, &name));
                checks.extend(elsewhere(wrapping, &name, places));
                if server.start == Start::Wrapped {
                    continue;
                }
                Check {
                    hint: Some("remove `--observe` once you have rules".to_owned()),
                    ..note("hosts", format!("{name} is only observed: every call passes"))
                }
            }
            (Start::Wrapped | Start::Observed, None) => continue,
            (_, _) if is_allowed => note("hosts", format!("{name} is not wrapped, as `allow-unwrapped` says")),
            (Start::Unwrapped, _) => Check {
                state: State::Open,
                fix: Some(Fix::Install),
                ..note("hosts", format!("{name} is NOT wrapped: {unseen}"))
            },
            (Start::Elsewhere, _) => open(
                "hosts",
                format!("{name} is NOT wrapped: {unseen}"),
                "write its command into that file, or turn it off: `install` finds no command to wrap",
            ),
            (Start::Bundle, _) => open(
                "hosts",
                format!("{name} is a bundle (.mcpb), which mcp-approve does not cover: {unseen}"),
                &format!("remove it in {} and list its server's command instead; or {LEAVE}", server.host),
            ),
            (Start::Remote, _) => open(
                "hosts",
                format!("{name} is reached over the network, and NOT wrapped: {unseen}"),
                &format!("`mcp-approve install --remote` wraps it; or {LEAVE}"),
            ),
        };
        checks.push(check);
    }
    checks
}

fn named(server: &Listed) -> String {
    format!("{} of {} ({})", server.name, server.host, server.list())
}

fn of_program(program: &Program, name: &str) -> Option<Check> {
    let check =
        |state, what: String| Some(Check { state, fix: Some(Fix::Repair), ..note("hosts", format!("{name} {what}")) });
    match program {
        Program::This | Program::Fetched => None,
        Program::Gone(path) => check(State::Broken, format!("cannot start: {path} is gone, or cannot be run")),
        Program::NotFound(name) => {
            check(State::Open, format!("starts {name}, which is not on the PATH here, so it was not looked at"))
        }
        Program::Other { path, version } => {
            let this = env!("CARGO_PKG_VERSION");
            check(State::Open, format!("is wrapped by another build ({path}, version {version}; this is {this})"))
        }
        Program::Foreign(path) => {
            let unseen = "none of its calls is held or recorded";
            check(State::Broken, format!("is NOT wrapped: {path} has the name of mcp-approve, and is not it: {unseen}"))
        }
    }
}

/// Options by which a wrapper keeps its records, or takes its rules, elsewhere than the commands that are run here.
fn elsewhere(wrapping: &Wrapping, name: &str, places: &Places) -> Vec<Check> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let is_home = |given: &str| places.root().is_some_and(|root| real(root) == real(Path::new(given)));
    let mut checks = Vec::new();
    let here = places.console();
    match (wrapping.option("--home"), places.root()) {
        (Some(given), _) if !is_home(given) => {
            let what = format!("{name} keeps its records, and takes its rules, under {given}");
            let hint = format!("`mcp-approve --home {given}` is its console, and `{here}` does not show its calls");
            checks.push(open("hosts", what, &hint));
        }
        (None, Some(_)) => {
            let what = format!("{name} has no --home, so it keeps its records in your own folders");
            checks.push(open("hosts", what, "`mcp-approve` without --home shows its calls"));
        }
        (Some(_) | None, _) => {}
    }
    for (option, what) in [("--policy", "is decided by"), ("--audit-db", "is recorded in")] {
        if let Some(given) = wrapping.option(option) {
            let hint = format!("name it to commands that look at this server: {option} {given}");
            checks.push(open("hosts", format!("{name} {what} {given}, which its entry names"), &hint));
        }
    }
    checks
}

//! Which agent of a workflow receives what, over chains, limits, rings and forks; and workflows that cannot be checked.

use std::collections::BTreeMap;

use mcp_approve::capability::set::{Capability, Caps};
use mcp_approve::capability::workflow::{Breach, CheckedWorkflow, NoWorkflow, Workflow};

fn caps(names: &[&str]) -> Caps {
    let one = |name: &&str| Capability { name: (*name).into(), arguments: "any".into(), result: "any".into() };
    Caps::Of(names.iter().map(one).collect())
}

fn checked<T>(text: &str, see: impl Fn(CheckedWorkflow<'_>) -> T) -> T {
    let manifests = BTreeMap::from([
        ("files".to_owned(), caps(&["read", "write", "delete"])),
        ("web".to_owned(), caps(&["fetch"])),
    ]);
    see(Workflow::read(text).unwrap().check(&manifests))
}

fn breaches(text: &str) -> Vec<String> {
    let say = |breach: &Breach| format!("{} {} over {}", breach.agent, breach.capability.name, breach.path.join(" > "));
    checked(text, |checked| checked.breaches.iter().map(say).collect())
}

const CHAIN: &str = r#"
[agent.lead]
servers = ["files", "web"]
[agent.worker]
servers = ["files"]
allow = ["read"]
[agent.helper]
servers = ["files", "web"]
allow = ["read", "fetch"]
"#;

#[test]
fn a_capability_is_followed_over_every_edge() {
    let edges = "[[delegate]]\nfrom = 'lead'\nto = 'worker'\n[[delegate]]\nfrom = 'worker'\nto = 'helper'\n";
    assert_eq!(
        breaches(&format!("{CHAIN}{edges}")),
        [
            "helper delete over lead > worker > helper",
            "helper write over lead > worker > helper",
            "worker delete over lead > worker",
            "worker write over lead > worker",
        ]
    );
    let narrow = edges.replacen("to = 'worker'\n", "to = 'worker'\nonly = ['read']\n", 1);
    let found = checked(&format!("{CHAIN}{narrow}"), |checked| (checked.count, checked.effective["helper"].len()));
    assert_eq!(found, (0, 1), "fetch is not the worker's to hand on");
}

#[test]
fn an_agent_that_starts_on_its_own_has_all_that_its_servers_have() {
    assert_eq!(breaches(CHAIN).len(), 4, "nobody delegates, so each starts");
    let handed = "[[delegate]]\nfrom = 'lead'\nto = 'worker'\nonly = []\n[[delegate]]\nfrom = 'lead'\nto = 'helper'\nonly = []\n";
    assert_eq!(breaches(&format!("{CHAIN}{handed}")), [""; 0]);
    let starts = CHAIN.replace("allow = [\"read\"]\n", "allow = [\"read\"]\nstarts = true\n");
    assert_eq!(breaches(&format!("{starts}{handed}")), ["worker delete over worker", "worker write over worker"]);
}

#[test]
fn a_ring_is_not_harmless_because_nobody_is_first() {
    let ring = "
[agent.a]
servers = ['files']
allow = ['read']
[agent.b]
servers = ['files']
allow = ['read', 'write', 'delete']
[agent.after]
servers = ['files', 'web']
allow = ['read', 'write', 'delete']
[[delegate]]
from = 'a'
to = 'b'
[[delegate]]
from = 'b'
to = 'a'
[[delegate]]
from = 'b'
to = 'after'
[[delegate]]
from = 'after'
to = 'after'
";
    // `after` is handed what the ring has, and no more: its own fetch is nobody's to hand on.
    assert_eq!(breaches(ring), ["a delete over a", "a write over a"]);
}

#[test]
fn a_workflow_that_cannot_be_checked_says_why() {
    for (text, expected) in [
        ("", NoWorkflow::NoAgents),
        ("[agent.a]\n[[delegate]]\nfrom = 'a'\nto = 'b'\n", NoWorkflow::UnknownAgent("b".into())),
    ] {
        assert_eq!(Workflow::read(text), Err(expected), "{text}");
    }
    for text in ["[agent.a]\nserver = ['x']\n", "agent = 3\n", "[agent.a\n", "[[delegate]]\nfrom = 'a'\n"] {
        assert!(matches!(Workflow::read(text), Err(NoWorkflow::NotToml(_))), "{text}");
    }
}

#[test]
fn ten_thousand_agents_come_to_an_end() {
    let mut text = String::new();
    for n in 0..10_000 {
        text.push_str(&format!("[agent.a{n}]\nservers = ['files']\nallow = ['read']\n"));
    }
    for n in 0..100_000_usize {
        text.push_str(&format!("[[delegate]]\nfrom = 'a{}'\nto = 'a{}'\n", n % 10_000, (n * 7 + 1) % 10_000));
    }
    let (count, shown) = checked(&text, |checked| (checked.count, checked.breaches.len()));
    // Whoever starts hands on to all: each has two tools that it may not have.
    assert_eq!((count, shown), (20_000, 1_000));
}

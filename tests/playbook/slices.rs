//! Many calls that wait for a list: judged a slice at a step, because what each takes until it is recorded is many times its
//! size. What comes between two slices changes neither their order nor what they are judged by.

use std::sync::Arc;

use mcp_approve::audit::record::Kind;
use mcp_approve::gate::data::effect::Effect;
use mcp_approve::gate::data::event::Event;
use mcp_approve::wire::Line;

use crate::world::{World, call, config, modern_call};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
const NOTED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

fn line(content: &str) -> Line {
    Line::new(format!("{content}\n").into_bytes())
}

fn read(n: usize) -> Event {
    Event::HostLine(line(&call(&n.to_string(), "read_file", r#"{"path":"/a"}"#)))
}

fn said(content: &str) -> Event {
    Event::ServerLine(line(content))
}

/// What a test did with a world in which calls wait, and what came of it.
struct Waiting {
    world: World,
    /// Our own question for the list.
    question: Option<serde_json::Value>,
    decided: Vec<Arc<str>>,
    queries: usize,
}

impl Waiting {
    fn new(world: World) -> Self {
        Self { world, question: None, decided: Vec::new(), queries: 0 }
    }

    /// One step; how many calls it decided.
    fn step(&mut self, event: Event) -> usize {
        let before = self.decided.len();
        for effect in self.world.gate.step(self.world.now, event) {
            match effect {
                Effect::WriteToServer(asked) => {
                    self.queries += 1;
                    self.question = serde_json::from_slice(asked.into_line().content()).ok();
                }
                Effect::Record(_, entry) if entry.kind == Kind::Decision => self.decided.extend(entry.ticket),
                _ => {}
            }
        }
        self.decided.len() - before
    }

    /// The list comes, something else between two slices, and then the rest; how many steps that took.
    fn listed(&mut self, tools: &str, between: impl Fn(&mut Self)) -> usize {
        let id = self.question.take().expect("a question")["id"].clone();
        let reply = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":{}}}}}"#, tools.replace('\n', " "));
        let (mut event, mut steps, mut late) = (said(&reply), 0, false);
        loop {
            let decided = self.step(event);
            assert!(decided <= 64, "{decided} in one step");
            if decided > 0 && !std::mem::replace(&mut late, true) {
                between(self);
            }
            if !self.world.gate.has_work_left() {
                return steps;
            }
            steps += 1;
            event = Event::GoOn;
        }
    }
}

/// Nothing that the shell would have to look at.
const ALLOWED: &str = "version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\ntool = \"read_*\"\n";

/// A world with two hundred reads that wait for the list.
fn waiting(mut world: World) -> Waiting {
    world.host(INITIALIZE);
    world.server(INITIALIZED);
    world.host(NOTED);
    let mut all = Waiting::new(world);
    for n in 1..=200 {
        assert_eq!(all.step(read(n)), 0);
    }
    all
}

fn tickets(numbers: impl IntoIterator<Item = usize>) -> Vec<Arc<str>> {
    numbers.into_iter().map(|n| format!("files-{n}").into()).collect()
}

#[test]
fn calls_that_wait_for_a_list_are_judged_a_slice_at_a_step_in_their_order() {
    for (tools, listed) in [(crate::world::TOOLS, true), ("[]", false)] {
        let mut all = waiting(World::with(config(), ALLOWED));
        let steps = all.listed(tools, |all| assert_eq!(all.step(read(201)), 0, "it waits for those before it"));
        assert!(steps >= 4, "{steps}");
        assert_eq!(all.decided, tickets(1..=if listed { 201 } else { 200 }));
        // The list was without its tool: the server is asked once more for the call that came later.
        assert_eq!(all.queries, if listed { 1 } else { 2 });
    }
}

#[test]
fn calls_are_not_judged_by_a_list_that_has_changed_since() {
    let policy = "version = 1\n[[rule]]\nid = \"a\"\ndecision = \"allow\"\ntool = \"read_*\"\n";
    let mut all = waiting(World::with(config(), policy));
    all.listed(crate::world::TOOLS, |all| assert_eq!(all.step(said(CHANGED)), 0));
    assert_eq!((all.decided.len(), all.queries), (64, 2), "the rest waits for the new list");
    all.listed(crate::world::TOOLS, |_| {});
    assert_eq!(all.decided, tickets(1..=200));
}

#[test]
fn a_call_that_waited_for_the_handshake_is_not_left_behind_by_later_ones() {
    let mut all = Waiting::new(World::with(config(), ALLOWED));
    all.world.host(INITIALIZE);
    all.world.host(NOTED);
    assert_eq!(all.step(read(1)), 0);
    for n in 2..=201 {
        let modern = modern_call(&n.to_string(), "read_file", r#"{"path":"/a"}"#, "");
        assert_eq!(all.step(Event::HostLine(line(&modern))), 0);
    }
    all.listed(crate::world::TOOLS, |all| assert_eq!(all.step(said(INITIALIZED)), 0));
    all.decided.sort_by_key(|ticket| ticket.rsplit('-').next().and_then(|n| n.parse::<usize>().ok()));
    assert_eq!(all.decided, tickets(1..=201));
}

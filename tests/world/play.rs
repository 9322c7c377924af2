//! Plays moves on a gate, and a history of them to its end.

use mcp_approve::gate::data::event::{Event, Side};
use mcp_approve::gate::data::pin::ToolWord;
use mcp_approve::gate::data::report::OperatorVerdict;
use mcp_approve::gate::data::terms::{Covers, Lasts};
use mcp_approve::gate::{Config, ForwardOrder, Unattended};
use mcp_approve::wire::digest::Digest;

use super::moves::Move;
use super::{Did, World, about_task, config, form_call, modern_call, polled, taking_tasks, task_call};

/// What the host writes in the stateless era where it shows forms.
const FORM_WRITE: &str = r#"{"path":"/m","content":"y"}"#;

pub fn play(world: &mut World, one: Move) {
    match one {
        Move::Write => world.call("1", "write_file", r#"{"path":"/a","content":"x"}"#),
        Move::Read => world.call("2", "read_file", r#"{"path":"/a"}"#),
        Move::Unknown => world.call("3", "nobody_knows", "{}"),
        Move::Approve => {
            let first = first_card(world);
            world.approve(&first)
        }
        Move::ApproveOther => {
            world.decide("files-1", Digest::of(b"other bytes"), OperatorVerdict::Approve { unread: false })
        }
        Move::Deny => world.deny("files-1", "no"),
        Move::DenyFirst => {
            let first = first_card(world);
            world.deny(&first, "no")
        }
        Move::Resource => {
            world.host(r#"{"jsonrpc":"2.0","id":"r","method":"resources/read","params":{"uri":"file:///a"}}"#)
        }
        Move::Prompt => world.host(r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p"}}"#),
        // Under the id of a call of the host's: the two sides choose theirs apart.
        Move::Sample => {
            world.server(r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[]}}"#)
        }
        Move::Elicit => world.server(r#"{"jsonrpc":"2.0","id":"r","method":"elicitation/create","params":{}}"#),
        Move::Embed => world.server(&embed("6", r#""a":{"method":"sampling/createMessage","params":{}}"#)),
        Move::EmbedTwo => world.server(&embed(
            "\"r\"",
            r#""a":{"method":"roots/list"},"b":{"method":"elicitation/create","params":{"message":"?"}}"#,
        )),
        Move::Answers => world.host(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        Move::CancelResource => {
            world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r"}}"#)
        }
        Move::CancelSample => {
            world.server(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        }
        Move::Freeze => world.freezes(Some("it is a test".to_owned())),
        Move::Lift => world.freezes(None),
        Move::MethodsAsk => world.policy(&about_methods("ask")),
        Move::MethodsDeny => world.policy(&about_methods("deny")),
        Move::MethodsAllow => world.policy(&about_methods("allow")),
        Move::LogTakes => world.log_takes(),
        Move::LogFails => world.log_fails(),
        Move::Cancel => world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#),
        Move::Later => world.wait(60),
        Move::AnswerOne => world.server(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#),
        Move::AnswerTwo => world.server(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#),
        Move::ListChanged => world.server(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#),
        Move::DiskShows => world.disk_shows(),
        Move::DiskHangs => world.disk_hangs(),
        Move::DiskChanges => {
            let size = world.disk.get("/a").map_or(0, |(_, content)| content.len());
            world.disk.insert("/a".into(), ("/a".into(), "x".repeat(size + 1)));
            Vec::new()
        }
        Move::Grant => {
            let first = first_card(world);
            world.grant(&first, Covers::Tool, Lasts::Calls(1))
        }
        Move::PolicyAllows => {
            world.policy("version = 1\n[[rule]]\nid = \"yes\"\ndecision = \"allow\"\ntool = \"write_file\"\n")
        }
        Move::PolicyDenies => world.policy("version = 1\n[[rule]]\nid = \"no\"\ndecision = \"deny\"\n"),
        Move::Glance => world.call("8", "glance_at_board", r#"{"id":8}"#),
        Move::SayReads | Move::SayChanges => {
            let first = first_card(world);
            let word = if one == Move::SayReads { ToolWord::Reads } else { ToolWord::Changes };
            world.says(&first, word)
        }
        Move::KeepPins => world.keeps_pins(),
        Move::HostGone => world.close(Side::Host),
        Move::ServerGone => world.close(Side::Server),
        Move::Delete => world.call("4", "delete_file", r#"{"path":"/b"}"#),
        Move::Again => world.call("5", "write_file", r#"{"path":"/a","content":"x"}"#),
        Move::Modern => world.host(&modern_call("6", "write_file", r#"{"path":"/m","content":"y"}"#, "")),
        Move::Edit => {
            let first = first_card(world);
            world.edit(&first, r#"{"path":"/other","content":"z"}"#)
        }
        Move::EditBadly => {
            let first = first_card(world);
            world.edit(&first, r#"{"path":"/a","path":"/b"}"#)
        }
        Move::AskedMore => world.server(
            r#"{"jsonrpc":"2.0","id":6,"result":{"resultType":"input_required","requestState":"s","inputRequests":{}}}"#,
        ),
        Move::Continue => world.host(&modern_call(
            "7",
            "write_file",
            r#"{"path":"/m","content":"y"}"#,
            r#","requestState":"s","inputResponses":{}"#,
        )),
        Move::ComeBack | Move::ComeBackOther => {
            let Some(state) = world.states.last() else { return };
            let path = if one == Move::ComeBack { "/m" } else { "/other" };
            let arguments = format!(r#"{{"path":"{path}","content":"y"}}"#);
            let id = (20 + world.states.len()).to_string();
            let line = modern_call(&id, "write_file", &arguments, &format!(r#","requestState":"{state}""#));
            world.host(&line)
        }
        Move::TaskCall => world.host(&task_call("30", "write_file", r#"{"path":"/a","content":"t"}"#)),
        Move::TaskModern => {
            world.host(&taking_tasks(&modern_call("31", "write_file", r#"{"path":"/m","content":"t"}"#, "")))
        }
        Move::TaskGet => ask_about(world, "40", "tasks/get"),
        Move::TaskResult => ask_about(world, "41", "tasks/result"),
        Move::TaskCancel => {
            // While it is held, this is the end of it.
            let held = world.gate.snapshots().into_iter().map(|card| card.ticket).collect::<Vec<_>>();
            let did = ask_about(world, "42", "tasks/cancel");
            let left: Vec<String> = world.gate.snapshots().into_iter().map(|card| card.ticket).collect();
            world.given_up.extend(held.into_iter().filter(|ticket| !left.contains(ticket)));
            did
        }
        Move::TaskCancelRequest => {
            world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":30}}"#)
        }
        Move::TaskMade => {
            let made = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"task":{{"taskId":"s","status":"working"}}}}}}"#);
            world.server(&made(30));
            world.server(&made(31).replace(r#""task":{"#, r#""resultType":"task","_":{},"#).replace("}}}", "}}"))
        }
        Move::TaskAnswer => {
            world.server(r#"{"jsonrpc":"2.0","id":30,"result":{"content":[]}}"#);
            world.server(r#"{"jsonrpc":"2.0","id":31,"result":{"content":[],"resultType":"complete"}}"#)
        }
        Move::TaskAsksMore => world
            .server(r#"{"jsonrpc":"2.0","id":31,"result":{"resultType":"input_required","requestState":"s"}}"#),
        Move::AnswerSix => world.server(r#"{"jsonrpc":"2.0","id":6,"result":{"content":[]}}"#),
        Move::CancelSix => {
            world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}"#)
        }
        Move::Clash => world.call("1", "delete_file", r#"{"path":"/c"}"#),
        Move::Attach => world.step(Event::Attached { who: "ann".into(), attached: 1 }),
        Move::Detach => world.step(Event::Detached { who: "ann".into(), attached: 0 }),
        Move::ClockBack => {
            world.now.wall -= 86_400_000;
            world.step(Event::Woke)
        }
        Move::Garbage => world.host(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call"}"#),
        Move::Ticks => world.host_answers(r#""result":{"action":"accept","content":{"approve":true}}"#),
        Move::Declines => world.host_answers(r#""result":{"action":"decline"}"#),
        Move::CannotAsk => world.host_answers(r#""error":{"code":-32601,"message":"no"}"#),
        Move::AnswersTwice => {
            let form = world.forms.last().cloned();
            world.host_answers(r#""result":{"action":"cancel"}"#);
            world.forms.extend(form);
            let did = world.host_answers(r#""result":{"action":"accept","content":{"approve":true}}"#);
            world.forms.clear();
            did
        }
        Move::FormCall => world.host(&form_call("6", "write_file", FORM_WRITE, "")),
        Move::TicksInside | Move::DeclinesInside | Move::BringsNothing | Move::TicksForAnother => {
            let id = (40 + world.states.len()).to_string();
            let arguments = if one == Move::TicksForAnother { r#"{"path":"/other","content":"y"}"# } else { FORM_WRITE };
            let answer = match one {
                Move::DeclinesInside => r#"{"action":"decline"}"#,
                Move::BringsNothing => "null",
                _ => r#"{"action":"accept","content":{"approve":true}}"#,
            };
            world.host_brings(|more| form_call(&id, "write_file", arguments, more), answer)
        }
        Move::Stop => world.step(Event::Shutdown { why: "SIGTERM".into() }),
    };
}

fn ask_about(world: &mut World, id: &str, method: &str) -> Vec<Did> {
    let Some(task) = world.tasks.last().cloned() else { return Vec::new() };
    world.host(&about_task(id, method, &task))
}

fn first_card(world: &World) -> String {
    world.gate.snapshots().first().map_or("files-1".into(), |card| card.ticket.clone())
}

/// The answer to a request, which asks for these.
fn embed(id: &str, requests: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","requestState":"s","inputRequests":{{{requests}}}}}}}"#
    )
}

/// One rule about every request that is no call, beside the session's own.
pub fn about_methods(decision: &str) -> String {
    let methods = "['resources/*', 'prompts/*', 'sampling/*', 'elicitation/*']";
    format!("version = 1\n[[rule]]\nid = 'm'\ndecision = '{decision}'\nmethod = {methods}\n")
}

/// Plays a history after the handshake, with a log that answers only when told to.
pub fn replay(moves: &[Move]) {
    replay_in(World::new().ready(), moves);
}

/// The same with a host that shows our questions.
pub fn replay_with_forms(moves: &[Move]) {
    let config = Config { unattended: Unattended::Elicit, ..config() };
    replay_in(World::with(config, "").ready_with(r#"{"elicitation":{}}"#), moves);
}

/// The same, where calls keep the order in which they were sent.
pub fn replay_ordered(moves: &[Move]) {
    replay_in(World::with(Config { order: ForwardOrder::Sent, ..config() }, "").ready(), moves);
}

/// The same with hosts that poll and a server that makes tasks.
pub fn replay_polled(moves: &[Move]) {
    replay_in(polled(), moves);
}

fn replay_in(mut world: World, moves: &[Move]) {
    world.log_answers = false;
    world.disk_answers = false;
    for one in moves {
        play(&mut world, *one);
    }
    world.finish();
}

//! Everything that comes out of the gate in some sessions, whole: each effect, each record, each card and each count. The other
//! tests look at what matters to them; here a change that nobody meant is seen wherever it is. Read the difference, then take it.

mod odd;

use mcp_approve::behavior::conclude::Trust;
use mcp_approve::gate::data::event::{Event, Side};
use mcp_approve::gate::data::facts::{Approver, May, Opinion};
use mcp_approve::gate::data::pin::ToolWord;
use mcp_approve::gate::data::terms::{Covers, Lasts};
use mcp_approve::gate::{Config, Mode, Unattended};
use mcp_approve::policy::rule::Decision;

use crate::world::moves::Move;
use crate::world::play::play;
use crate::world::{World, about_task, ann, call, config, form_call, modern_call, polled, taking_tasks, task_call};

/// What the sessions are called, and how each is played.
type Session = (&'static str, fn() -> World);

const SESSIONS: &[Session] = &[
    ("a read and a write", reads_and_writes),
    ("calls that are edited, repeated and cancelled", edited),
    ("a database", database),
    ("files that are looked at", files),
    ("requests other than calls", requests),
    ("a question to the host", forms),
    ("hosts that poll and tasks", tasks),
    ("approvers", approvers),
    ("grants and rules", grants),
    ("an observer", observed),
    ("what cannot be read", odd::unreadable),
    ("a log that fails", failing),
    ("a scope", odd::scoped),
    ("lines that stream past and other odd ones", odd::odd),
    ("edits of files", odd::edits),
];

/// Tools whose calls show more than files do.
const MORE: &str = r#"[{"name":"query","description":"Runs a SQL query.","inputSchema":{"type":"object","properties":{"sql":{"type":"string"},"dry_run":{"type":"boolean"}},"required":["sql"],"additionalProperties":false}},{"name":"send_mail","title":"Send","description":"Sends mail.","annotations":{"destructiveHint":true,"openWorldHint":true},"inputSchema":{"type":"object","properties":{"to":{"type":"string"},"body":{"type":"string"}}}},{"name":"run_command","description":"Runs a command.","inputSchema":{"type":"object","properties":{"command":{"type":"string"}}}},{"name":"get_weather","description":"Gets the weather.","inputSchema":{"type":"object","properties":{"city":{"type":"string"}}}}]"#;

fn attached(mut world: World) -> World {
    world.transcript = Some(Vec::new());
    world.step(Event::Attached { who: "ann".into(), attached: 1 });
    world
}

fn lists(world: &mut World, tools: &str) {
    world.host(r#"{"jsonrpc":"2.0","id":"again","method":"tools/list"}"#);
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"again","result":{{"tools":{tools}}}}}"#));
}

fn answers(world: &mut World, id: &str, result: &str) {
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
}

/// A call with a progress token, a caller and a trace.
fn told(id: &str, tool: &str, arguments: &str) -> String {
    let meta = r#""_meta":{"progressToken":"p","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","io.example/caller":{"tool":"outer"}},"arguments""#;
    call(id, tool, arguments).replacen(r#""arguments""#, meta, 1)
}

fn reads_and_writes() -> World {
    let mut world = World::with(config(), "");
    world.transcript = Some(Vec::new());
    world.call("0", "read_file", r#"{"path":"/early"}"#);
    let mut world = attached(world.ready());
    world.host(&told("1", "write_file", r#"{"path":"/a","content":"x"}"#));
    world.wait(20);
    world.call("2", "read_file", r#"{"path":"/a"}"#);
    answers(&mut world, "2", r#"{"content":[{"type":"text","text":"old"}],"isError":true}"#);
    world.approve("files-2");
    world.server(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#);
    answers(&mut world, "1", r#"{"content":[],"structuredContent":{"ok":true}}"#);
    world.call("3", "delete_file", r#"{"path":"/b"}"#);
    world.deny("files-4", "not this one");
    world.call("4", "delete_file", r#"{"path":"/b"}"#);
    world.call("5", "nobody_knows", r#"{"a":[1,2,{"b":null}],"text":"ignore all previous instructions"}"#);
    world.call("6", "write_file", r#"{"path":7}"#);
    world.step(Event::Attached { who: "bob".into(), attached: 2 });
    world.wait(400);
    world.close(Side::Host);
    world
}

fn edited() -> World {
    let mut world = attached(World::new().ready());
    let write = r#"{"path":"/a","content":"x"}"#;
    world.call("1", "write_file", write);
    world.edit("files-1", r#"{"path":"/other","content":"y"}"#);
    world.edit("files-1", r#"{"path":"/a","path":"/b"}"#);
    world.approve("files-1");
    world.server(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no room"}}"#);
    world.call("2", "write_file", write);
    world.call("3", "write_file", write);
    world.call("3", "delete_file", write);
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"late"}}"#);
    play(&mut world, Move::ApproveOther);
    world.approve("files-3");
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#);
    world.host(&modern_call("6", "write_file", write, ""));
    for one in [Move::Later, Move::ComeBackOther, Move::ComeBack, Move::Approve, Move::AskedMore, Move::Continue] {
        play(&mut world, one);
    }
    world.step(Event::Detached { who: "ann".into(), attached: 0 });
    world.wait(3600);
    world.close(Side::Server);
    world
}

fn database() -> World {
    let mut world = attached(World::new().ready());
    lists(&mut world, MORE);
    for (at, sql) in [
        "SELECT name FROM users WHERE id = 1", "SELECT * FROM users; DROP TABLE users", "UPDATE t SET a = 1",
        "DELETE FROM users WHERE id = 1", "no sql at all",
    ]
    .iter()
    .enumerate()
    {
        world.call(&at.to_string(), "query", &format!(r#"{{"sql":"{sql}"}}"#));
    }
    world.call("6", "query", r#"{"sql":"SELECT 1","dry_run":"yes","other":1}"#);
    world.call("7", "run_command", r#"{"command":"ls -l && rm -rf ~/x > out.txt"}"#);
    world.call("8", "send_mail", r#"{"to":"a@example.org","body":"ghp_0123456789abcdefghijABCDEFGHIJ012345"}"#);
    world.call("9", "get_weather", r#"{"city":"Bern"}"#);
    for ticket in ["files-1", "files-2", "files-3"] {
        world.approve(ticket);
    }
    world.says("files-9", ToolWord::Reads);
    world.keeps_pins();
    world.says("files-7", ToolWord::Changes);
    world.keeps_pins();
    world.call("10", "get_weather", r#"{"city":"Berne"}"#);
    lists(&mut world, &MORE.replace("Gets the weather", "Gets the news"));
    world.call("11", "get_weather", r#"{"city":"Berne"}"#);
    world.step(Event::Shutdown { why: "SIGTERM".into() });
    world
}

fn files() -> World {
    let rules = "version = 1\n[[rule]]\nid = 'scratch'\ndecision = 'allow'\ntool = 'write_file'\nwhen = [{ arg = 'path', under = '/scratch' }]\n";
    let mut world = attached(World::with(config(), rules).ready());
    for (path, real) in [("/scratch/a", "/scratch/a"), ("/scratch/link", "/etc/passwd"), ("/b", "/b")] {
        world.disk.insert(path.into(), (real.into(), "one\ntwo\nthree\n".into()));
    }
    world.call("1", "write_file", r#"{"path":"/scratch/a","content":"one\n2\nthree\n"}"#);
    world.call("2", "write_file", r#"{"path":"/scratch/link","content":"x"}"#);
    world.call("3", "delete_file", r#"{"path":"/b"}"#);
    world.disk.insert("/b".into(), ("/b".into(), "more".into()));
    world.approve("files-3");
    world.approve("files-3");
    world.disk_answers = false;
    world.call("4", "write_file", r#"{"path":"relative","content":"x"}"#);
    world.disk_hangs();
    world.disk_hangs();
    world.approve("files-4");
    world.disk_hangs();
    world.host(r#"{"jsonrpc":"2.0","id":"r","method":"ping"}"#);
    world.close(Side::Server);
    world
}

fn requests() -> World {
    let mut world = attached(World::new().ready());
    for one in [
        Move::Resource,
        Move::Prompt,
        Move::Sample,
        Move::Elicit,
        Move::Answers,
        Move::MethodsAsk,
        Move::Prompt,
        Move::Approve,
        Move::EmbedTwo,
        Move::Sample,
        Move::Embed,
        Move::DenyFirst,
        Move::CancelSample,
        Move::Elicit,
        Move::Approve,
        Move::CancelResource,
        Move::Resource,
        Move::MethodsDeny,
        Move::Resource,
        Move::Sample,
        Move::MethodsAllow,
        Move::Modern,
        Move::Approve,
        Move::Embed,
        Move::Answers,
        Move::Later,
        Move::HostGone,
    ] {
        play(&mut world, one);
    }
    world
}

fn asking() -> World {
    attached(World::with(Config { unattended: Unattended::Elicit, ..config() }, "").ready_with(r#"{"elicitation":{}}"#))
}

fn forms() -> World {
    let mut world = asking();
    world.step(Event::Detached { who: "ann".into(), attached: 0 });
    for one in [
        Move::Write,
        Move::Ticks,
        Move::AnswerOne,
        Move::Delete,
        Move::Declines,
        Move::Again,
        Move::CannotAsk,
        Move::FormCall,
        Move::TicksForAnother,
        Move::DeclinesInside,
        Move::FormCall,
        Move::BringsNothing,
        Move::TicksInside,
        Move::AnswerSix,
        Move::Write,
        Move::Attach,
        Move::AnswersTwice,
        Move::Later,
    ] {
        play(&mut world, one);
    }
    world.host(&form_call("50", "delete_file", r#"{"path":"/gone"}"#, ""));
    world.close(Side::Host);
    world
}

fn tasks() -> World {
    let mut world = attached(polled());
    world.host(&task_call("30", "write_file", r#"{"path":"/a","content":"t"}"#));
    for one in [Move::TaskGet, Move::Approve, Move::TaskMade, Move::TaskGet, Move::TaskResult, Move::TaskAnswer] {
        play(&mut world, one);
    }
    world.host(&taking_tasks(&modern_call("31", "write_file", r#"{"path":"/m","content":"t"}"#, "")));
    for one in [Move::TaskGet, Move::TaskAsksMore, Move::TaskCancel, Move::Later, Move::TaskCall, Move::DenyFirst] {
        play(&mut world, one);
    }
    world.host(&about_task("60", "tasks/get", "mcp-approve-task-nobody"));
    world.wait(100_000);
    world.close(Side::Host);
    world
}

fn approvers() -> World {
    let one = |name: &str, may| Approver { name: name.into(), server: Vec::new(), tool: Vec::new(), may };
    let approvers = vec![one("one", May::Allow), one("two", May::Tighten)];
    let mut world = attached(World::with(Config { approvers, ..config() }, "").ready());
    for (at, decision) in [Decision::Allow, Decision::Ask, Decision::Deny].into_iter().enumerate() {
        world.call(&at.to_string(), "write_file", r#"{"path":"/a","content":"x"}"#);
        let says = Opinion { name: "one".into(), decision, reason: "because".into(), failed: false, latency_us: 1500 };
        world.approvers_say(&[says.clone(), Opinion { name: "two".into(), decision: Decision::Allow, ..says }]);
    }
    world.call("9", "read_file", r#"{"path":"/a"}"#);
    world.wait(400);
    world.close(Side::Host);
    world
}

fn grants() -> World {
    let mut world = attached(World::new().ready());
    let write = |world: &mut World, id: u32| {
        world.call(&id.to_string(), "write_file", &format!(r#"{{"path":"/w/{id}","content":"x"}}"#));
    };
    write(&mut world, 1);
    world.grant("files-1", Covers::Tool, Lasts::Calls(2));
    write(&mut world, 2);
    write(&mut world, 3);
    write(&mut world, 4);
    world.grant("files-4", Covers::Tool, Lasts::Minutes(2));
    write(&mut world, 5);
    world.wait(150);
    write(&mut world, 6);
    for one in [Move::PolicyAllows, Move::Write, Move::PolicyDenies, Move::Write] {
        play(&mut world, one);
    }
    world.step(Event::GrantEnded { grant: "grant:9".into(), operator: ann() });
    world.close(Side::Server);
    world
}

fn observed() -> World {
    let mut world = attached(World::with(Config { mode: Mode::Observe, trust: Trust::None, ..config() }, "").ready());
    world.call("1", "write_file", r#"{"path":"/a","content":"x"}"#);
    world.call("2", "read_file", r#"{"path":"/etc/shadow"}"#);
    answers(&mut world, "1", r#"{"content":[]}"#);
    world.close(Side::Host);
    world
}

fn failing() -> World {
    let mut world = attached(World::new().ready());
    world.log_answers = false;
    for one in [
        Move::Write,
        Move::LogTakes,
        Move::Approve,
        Move::LogFails,
        Move::Read,
        Move::LogFails,
        Move::Read,
        Move::LogTakes,
        Move::Again,
        Move::LogTakes,
        Move::Approve,
        Move::Cancel,
        Move::LogTakes,
        Move::HostGone,
    ] {
        play(&mut world, one);
    }
    world
}

/// The whole of one session.
fn played(name: &str, session: fn() -> World) -> String {
    let mut world = session();
    let text = format!("# {name}\n{}\n", world.transcript.take().unwrap_or_default().join("\n"));
    world.finish();
    text
}

fn one(at: usize) -> String {
    let (name, session) = SESSIONS[at];
    played(name, session)
}

#[test]
fn nothing_that_comes_out_changes_unseen() {
    for at in 0..SESSIONS.len() {
        insta::assert_snapshot!(format!("session_{at}"), one(at));
    }
}

//! Consoles that come while much waits, or while others take the places: neither keeps the operator out.

use std::sync::Arc;

use mcp_approve::gate::Mode;
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::home::places::Places;
use mcp_approve::interpose::consoles::{Consoles, Registration};
use mcp_approve::interpose::notice::Waiting;

use super::*;
use crate::world::World;

/// A wrapper whose calls are held and whose consoles are told by the product itself.
struct Wrapped {
    consoles: Consoles,
    words: UnboundedReceiver<FromConsoles>,
    world: World,
    socket: PathBuf,
}

fn wrapped(place: &Place) -> Wrapped {
    let (to_us, words) = unbounded_channel();
    let registration = Registration {
        run_dir: place.run.clone(),
        places: Places::under(&place.run).unwrap(),
        waiting: Waiting::new("mcp-approve".to_owned(), None, None),
        name: "files".to_owned(),
        session: Arc::from("s1"),
        command: Vec::new(),
        started: 0,
        mode: Mode::Enforce,
    };
    let mut consoles = Consoles::new(registration, to_us);
    consoles.register(u32::MAX).unwrap();
    Wrapped { consoles, words, world: World::new().ready(), socket: place.run.join("files.sock") }
}

impl Wrapped {
    /// Holds a call whose arguments are so long.
    fn hold(&mut self, id: u32, bytes: usize) -> Snapshot {
        let arguments = format!(r#"{{"path":"/tmp/{id}","content":"{}"}}"#, "x".repeat(bytes));
        self.world.call(&id.to_string(), "write_file", &arguments);
        self.world.cards[&format!("files-{id}")].clone()
    }

    /// Lets consoles come and speak until `done`, as the wrapper's loop does.
    async fn work(&mut self, mut done: impl FnMut(&FromConsoles) -> bool) {
        loop {
            let said = timeout(DEADLINE, self.words.recv()).await.expect("a console does something").unwrap();
            let is_done = done(&said);
            self.consoles.hear(said, &self.world.gate);
            if is_done {
                return;
            }
        }
    }

    /// A console that has greeted, and reads nothing yet.
    async fn newcomer(&mut self) -> Raw {
        let mut raw = Raw(BufReader::new(UnixStream::connect(&self.socket).await.unwrap()));
        raw.greet(PROTOCOL).await;
        self.work(|said| matches!(said, FromConsoles::Attached { .. })).await;
        raw
    }
}

/// The next card or settlement: `held files-1`, `settled files-1`.
async fn news(raw: &mut Raw) -> String {
    loop {
        match serde_json::from_str(&raw.line().await).unwrap() {
            FromWrapper::Held { call } => return format!("held {} {}", call.ticket, call.arguments.len()),
            FromWrapper::Settled(settled) => return format!("settled {}", settled.ticket),
            _ => {}
        }
    }
}

#[test]
fn what_waits_is_shown_to_a_newcomer_one_call_at_a_time() {
    within(async {
        let place = place();
        let mut wrapped = wrapped(&place);
        let long = 2 << 20;
        for id in 1..=4 {
            wrapped.hold(id, long);
        }
        let mut raw = wrapped.newcomer().await;
        // It is still at the first when the second is settled, the third edited, and a fifth comes.
        wrapped.consoles.broadcast(&settled("files-2"));
        let mut edited = wrapped.world.cards["files-3"].clone();
        edited.arguments = "{}".to_owned();
        let now = wrapped.world.now;
        wrapped.consoles.ask(now, Box::new(edited), &wrapped.world.gate);
        let fifth = wrapped.hold(5, 1);
        wrapped.consoles.ask(now, Box::new(fifth), &wrapped.world.gate);
        let reads = async {
            let mut all = Vec::new();
            while all.len() < 5 {
                all.push(news(&mut raw).await);
            }
            all
        };
        let works = wrapped.work(|_| false);
        let all = tokio::select! {
            all = reads => all,
            () = works => unreachable!("it works for ever"),
        };
        let whole = long + r#"{"path":"/tmp/1","content":""}"#.len();
        assert_eq!(
            all,
            [
                format!("held files-1 {whole}"),
                "settled files-2".to_owned(),
                "held files-3 2".to_owned(),
                format!("held files-4 {whole}"),
                format!("held files-5 {}", whole - long + 1),
            ]
        );
        // From here on it hears with everybody.
        let sixth = wrapped.hold(6, 1);
        wrapped.consoles.ask(now, Box::new(sixth), &wrapped.world.gate);
        assert!(news(&mut raw).await.starts_with("held files-6"));
    });
}

#[test]
fn what_was_shown_is_told_once_it_is_written() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut raw = Raw::connect(&house).await;
        raw.greet(PROTOCOL).await;
        let id = house.attached().await;
        house.server.show(id, &held(&"x".repeat(4 << 20)));
        house.tell(&settled("filesystem-1"));
        assert!(raw.line().await.contains("held"));
        assert!(matches!(house.next().await, FromConsoles::Shown { console } if console == id));
        assert!(raw.line().await.contains("settled"));
    });
}

#[test]
fn the_longest_call_reaches_a_console_and_the_servers_words_do_not_make_it_longer() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut ann = console(&place.run, "ann");
        ann.connected().await;
        let id = house.attached().await;
        // As long as 16 MiB become that are edited and full of quotes, without the time it takes to escape them.
        let longest = held(&"x".repeat(96 << 20));
        house.server.show(id, &longest);
        assert!(ann.hears().await == longest, "the card is not the one that was sent");
    });
    let mut world = World::new();
    world.host(r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}"#);
    world.server(r#"{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1"}}}"#);
    world.host(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#);
    let words = "ü".repeat(60_000);
    world.server(&format!(
        r#"{{"jsonrpc":"2.0","id":"l","result":{{"tools":[{{"name":"write_file","title":"{words}","description":"{words}","inputSchema":{{"type":"object"}}}}]}}}}"#
    ));
    world.call("1", "write_file", "{}");
    let card = &world.cards["files-1"];
    for shown in [card.title.as_deref().unwrap(), card.description.as_deref().unwrap()] {
        assert!(shown.starts_with("üü") && shown.len() < 66_000, "{} bytes", shown.len());
        assert!(shown.ends_with("[cut here: 120000 bytes in all]"), "{}", &shown[shown.len() - 40..]);
    }
}

#[test]
fn a_wrapper_that_says_too_much_at_once_is_told_and_left_alone_for_a_while() {
    within(async {
        let place = place();
        let mut ann = console(&place.run, "ann");
        let listener = impostor(&place.run, "loud").await;
        let mut loud = accept(&listener).await;
        let hello = FromWrapper::Hello { protocol: PROTOCOL, version: "1".to_owned(), wrapper: wrapper("loud", "s9") };
        loud.write_all(format!("{}\n", serde_json::to_string(&hello).unwrap()).as_bytes()).await.unwrap();
        ann.connected().await;
        let chunk = vec![b' '; 1 << 20];
        // It is hung up on before the end.
        while loud.write_all(&chunk).await.is_ok() {}
        assert!(ann.trouble().await.contains("more at once"));
        assert_eq!(ann.next().await, ClientEvent::Gone { session: "s9".to_owned() });
    });
}

#[test]
fn e2_silent_connections_do_not_lock_the_operator_out() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut silent = Vec::new();
        for n in 0..64 {
            let mut one = Raw::connect(&house).await;
            if n % 2 == 0 {
                // Half a greeting is none.
                one.0.write_all(br#"{"say":"hello","#).await.unwrap();
            }
            silent.push(one);
        }
        for one in &mut silent {
            assert_eq!(one.line().await, "", "a silent connection is still there");
        }
        for _ in 0..64 {
            assert_eq!(house.rejected().await, Rejection::Silent);
        }
        let mut ann = console(&place.run, "ann");
        ann.connected().await;
        house.attached().await;
    });
}

#[test]
fn the_desk_is_shown_what_must_be_signed_and_counts_as_no_console_here() {
    within(async {
        let place = place();
        let mut wrapped = wrapped(&place);
        wrapped.hold(1, 1);
        let mut desk = Raw(BufReader::new(UnixStream::connect(&wrapped.socket).await.unwrap()));
        let hello =
            format!(r#"{{"say":"hello","protocol":{PROTOCOL},"version":"1","operator":"desk","pid":1,"kind":"desk"}}"#);
        desk.say(&hello).await;
        wrapped.work(|said| matches!(said, FromConsoles::Attached { .. })).await;
        // So notices are shown as before.
        assert_eq!(wrapped.consoles.attached(), 0);
        let call = loop {
            if let FromWrapper::Held { call } = serde_json::from_str(&desk.line().await).unwrap() {
                break call;
            }
        };
        assert_eq!(wrapped.world.cards["files-1"].signs, None, "a console here need not sign");
        let signs = call.signs.clone().expect("the desk must");
        assert_eq!((signs.call, signs.card), (call.digest, call.card_digest()));
        // Whatever else a console may do has no effect from there.
        let digest = call.digest;
        for word in [
            format!(r#"{{"say":"edit","ticket":"files-1","digest":"{digest}","arguments":"{{}}"}}"#),
            format!(r#"{{"say":"extend","ticket":"files-1","digest":"{digest}"}}"#),
            format!(r#"{{"say":"look","ticket":"files-1","digest":"{digest}"}}"#),
            format!(r#"{{"say":"accept-policy","file":"/x","digest":"{digest}"}}"#),
            r#"{"say":"end-grant","grant":"grant:1"}"#.to_owned(),
        ] {
            desk.say(&word).await;
            let said = timeout(DEADLINE, wrapped.words.recv()).await.expect("what it said").unwrap();
            let said = if let FromConsoles::Shown { .. } = said { wrapped.words.recv().await.unwrap() } else { said };
            assert!(wrapped.consoles.hear(said, &wrapped.world.gate).is_none(), "{word}");
            let answer = loop {
                let line = desk.line().await;
                if line.contains(r#""say":"refused""#) {
                    break line;
                }
            };
            assert!(answer.contains("only at its machine"), "{answer}");
        }
    });
}

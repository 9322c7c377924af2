//! The operator's word on a tool: the card that offers it, its keys, and the tools that are confirmed together.

use std::sync::Arc;

use insta::assert_snapshot;
use mcp_approve::behavior::evidence::{Claim, Evidence, Source, Strength};
use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::behavior::taxonomy::Mutability;
use mcp_approve::console::model::CallState;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::message::{FromConsole, KnownTool, PinOffer, PinState, Remembers, ToolOffer, ToolWord};
use mcp_approve::operator::found::{Counts, Finding};
use mcp_approve::operator::pinned::{PinBook, PinReview, PinnedTool, ToolReview};
use mcp_approve::policy::decide::Ruling;
use mcp_approve::wire::digest::Digest;

use super::keys::{APPROVE, sent};
use crate::desk::*;

fn says(source: Source, span: &str) -> Evidence {
    let says = Claim { mutability: Some(Mutability::Pure), ..Claim::default() };
    Evidence { source, says, span: span.into(), strength: Strength::Fair }
}

/// A call that asks only because nobody has confirmed that its tool reads.
fn likely(ticket: &str) -> Snapshot {
    let call = with_arguments(write(ticket), r#"{"id":7}"#);
    Snapshot {
        tool: "glance_at_board".into(),
        title: None,
        description: Some("Shows the board.".into()),
        signature: Some("glance_at_board(id: i64) -> Value".into()),
        identity: "PURE|READ|DATA".parse().unwrap(),
        confidence: Confidence::Likely,
        offer: Some(PinOffer {
            tool: ToolOffer::Likely,
            agree: Vec::new(),
            any_text: Vec::new(),
            remembers: Remembers::All,
            signs: None,
        }),
        evidence: vec![says(Source::Description, "shows")],
        effect: "reads — id = 7".into(),
        target: Some("7".into()),
        ruling: Ruling {
            reason: "the tool reads by its name, and no operator has confirmed that: it asks".into(),
            ..call.ruling.clone()
        },
        ..call
    }
}

/// A call of a proven read with a value that is new.
fn new(ticket: &str) -> Snapshot {
    let call = likely(ticket);
    Snapshot {
        confidence: Confidence::Proven,
        new: vec![("/query".into(), r#"query = "--output=x""#.into())],
        offer: Some(PinOffer {
            tool: ToolOffer::Proven,
            agree: vec![r#"query = "--output=x""#.into()],
            any_text: vec!["query".into()],
            remembers: Remembers::All,
            signs: None,
        }),
        arguments: r#"{"query":"--output=x"}"#.into(),
        ..call
    }
}

fn with(call: Snapshot) -> Desk {
    let mut desk = Desk::connected(80, 24);
    desk.hold(call);
    desk.look();
    desk
}

/// The operator's words among the commands.
fn words(commands: &[Command]) -> Vec<(String, Digest, ToolWord)> {
    let word = |command: &Command| match command {
        Command::Send { message: FromConsole::Pin { ticket, digest, word, .. }, .. } => {
            Some((ticket.clone(), *digest, *word))
        }
        _ => None,
    };
    commands.iter().filter_map(word).collect()
}

#[test]
fn what_a_retry_answers_is_read_before_it_is_approved() {
    let mut desk = Desk::connected(80, 40);
    let answers = r#"{"confirm":{"action":"accept","content":{"why":"because\u202e"}}}"#;
    desk.hold(Snapshot { responses: Some(answers.into()), ..likely("filesystem-1") });
    desk.look();
    let screen = desk.screen();
    assert!(screen.contains("answers to the server's questions"), "{screen}");
    assert!(screen.contains("because⟨U+202E⟩"), "{screen}");
}

#[test]
fn what_asks_every_time_offers_no_word() {
    let call = new("filesystem-1");
    let offer = PinOffer {
        tool: ToolOffer::Proven,
        agree: Vec::new(),
        any_text: Vec::new(),
        remembers: Remembers::Nothing,
        signs: None,
    };
    let mut desk = with(Snapshot { offer: Some(offer), ..call });
    let screen = desk.screen();
    assert!(screen.contains("new here") && !screen.contains("your word"), "{screen}");
}

#[test]
fn the_card_offers_what_one_word_would_spare() {
    for (width, height) in [(80, 24), (120, 40), (40, 12)] {
        for (name, call) in [("likely", likely("filesystem-1")), ("new", new("filesystem-1"))] {
            let mut desk = Desk::connected(width, height);
            desk.hold(call);
            desk.look();
            assert_snapshot!(format!("{name}_{width}x{height}"), desk.screen());
        }
    }
}

#[test]
fn one_key_approves_and_remembers() {
    let mut desk = with(likely("filesystem-1"));
    let commands = desk.keys("p");
    assert_eq!(words(&commands), [("filesystem-1".into(), likely("filesystem-1").digest, ToolWord::Reads)]);
    assert_eq!(sent(&commands), [], "one message is both");
    assert!(commands.contains(&Command::Drain));
    assert!(matches!(desk.model.queue.calls[0].state, CallState::Sent(_)));
    let mut desk = with(likely("filesystem-1"));
    assert_eq!(sent(&desk.keys("a")), [("filesystem-1".into(), APPROVE)], "a is about this call alone");
}

#[test]
fn a_tool_that_changes_something_is_marked_and_its_call_waits_on() {
    let mut desk = with(likely("filesystem-1"));
    let commands = desk.keys("m");
    assert_eq!(words(&commands)[0].2, ToolWord::Changes);
    assert_eq!(desk.model.queue.calls[0].state, CallState::Waiting);
    desk.line("This call still waits");
}

#[test]
fn plain_text_is_said_of_what_the_card_names() {
    let mut desk = with(new("filesystem-1"));
    assert_eq!(words(&desk.keys("p"))[0].2, ToolWord::Reads);
    let mut desk = with(new("filesystem-1"));
    assert_eq!(words(&desk.keys("w"))[0].2, ToolWord::PlainText);
}

#[test]
fn no_word_is_said_where_none_is_offered_or_nothing_was_read() {
    let mut desk = with(write("filesystem-1"));
    assert_eq!(words(&desk.keys("pmw")), []);
    let mut desk = Desk::connected(80, 24);
    desk.hold(likely("filesystem-1"));
    desk.draw();
    assert_eq!(words(&desk.types("pm", 0)), [], "the card has just come up");
    let long = serde_json::json!({ "ids": (0..400).collect::<Vec<_>>() }).to_string();
    let mut desk = with(Snapshot { arguments: long, ..likely("filesystem-1") });
    assert_eq!(words(&desk.keys("p")), [], "its end was not read");
    assert!(desk.screen().contains("Not read yet"), "{}", desk.screen());
}

fn tool(name: &str, identity: &str, confidence: Confidence, pin: PinState) -> PinnedTool {
    PinnedTool {
        server: "filesystem".into(),
        fingerprint: "ab".repeat(32),
        known: KnownTool {
            tool: name.into(),
            signature: format!("{name}() -> Value"),
            identity: identity.parse().unwrap(),
            confidence,
            evidence: vec![says(Source::Description, name)],
            disputed: false,
            hazards: Vec::new(),
            digest: Digest::of(name.as_bytes()),
            pin,
        },
        tags: Vec::new(),
        effects: String::new(),
        was: None,
        version: 1,
        definition: "{}".into(),
        changes: Vec::new(),
        grown: None,
        rules: Vec::new(),
        last_seen: NINE,
    }
}

fn book() -> Vec<PinnedTool> {
    use Confidence::{Likely, None, Proven};
    vec![
        tool("glance", "PURE|READ|DATA", Likely, PinState::Trusted),
        tool("look", "PURE|READ|DATA", Likely, PinState::Trusted),
        tool("new_write", "MUTATES|CREATE|DATA", None, PinState::New),
        tool("read", "PURE|READ|DATA", Proven, PinState::Trusted),
        tool("write", "MUTATES|CREATE|DATA", None, PinState::Trusted),
    ]
}

fn tools(desk: &mut Desk, tools: Vec<PinnedTool>) {
    desk.keys("4");
    desk.send(Msg::Found(Finding::Counts(Arc::<Counts>::default())));
    desk.send(Msg::Found(Finding::Pins(Arc::new(PinBook { tools, ..PinBook::default() }))));
    desk.draw();
}

fn settled(commands: &[Command]) -> Vec<(Vec<String>, Mutability)> {
    let said = |command: &Command| match command {
        Command::ReviewPins(PinReview::Tools(words)) => {
            let [(_, ToolReview::Is(mutability)), ..] = words.as_slice() else { return None };
            assert!(words.iter().all(|(_, word)| *word == ToolReview::Is(*mutability)));
            Some((words.iter().map(|(shown, _)| shown.tool.clone()).collect(), *mutability))
        }
        _ => None,
    };
    commands.iter().filter_map(said).collect()
}

#[test]
fn tools_are_confirmed_together() {
    for (width, height) in [(80, 24), (120, 40), (40, 12)] {
        let mut desk = Desk::connected(width, height);
        tools(&mut desk, book());
        desk.keys(" ");
        assert_snapshot!(format!("tools_likely_{width}x{height}"), desk.screen());
    }
    let mut desk = Desk::connected(100, 30);
    tools(&mut desk, book());
    assert_eq!(settled(&desk.keys("p")), [], "nothing is marked");
    // What waits for a word comes first: the new one, then what is likely.
    let marked = desk.keys("     p");
    assert_eq!(settled(&marked), [(vec!["glance".into(), "look".into()], Mutability::Pure)], "a write is no read");
    assert_eq!(settled(&desk.keys("p")), [], "the marks are gone");
}

#[test]
fn marked_tools_change_something_and_a_mark_is_for_the_definition_on_show() {
    let mut desk = Desk::connected(100, 30);
    tools(&mut desk, book());
    desk.keys("  ");
    let mut other = book();
    other[2].known.digest = Digest::of(b"another");
    desk.send(Msg::Found(Finding::Pins(Arc::new(PinBook { tools: other, ..PinBook::default() }))));
    assert_eq!(settled(&desk.keys("m")), [(vec!["glance".into()], Mutability::Mutates)]);
}

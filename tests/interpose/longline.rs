//! A line of the server that is too long to buffer: what the host gets of it while a call is held.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;

use mcp_approve::interpose::host::Host;
use mcp_approve::interpose::longline::{LongLine, Way};
use mcp_approve::interpose::stdio::{AsyncOut, Outbox};
use mcp_approve::wire::message::Gist;

/// Where a line goes, by what is known of it.
type Judge = fn(&Gist) -> Way;

/// No call is held: everything passes.
fn idle(_: &Gist) -> Way {
    Way::ToHost
}

/// While a call is held, only answers that are owed pass.
fn held(gist: &Gist) -> Way {
    if matches!(gist, Gist::Response { .. }) { Way::ToHost } else { Way::Nowhere }
}

/// What the host reads of a line whose head was read before any call was held.
fn read(pieces: &[(&str, Judge)]) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut host = Host::new(Outbox::new(AsyncOut::new(OwnedFd::from(writer)).unwrap()));
        let mut line = LongLine::new(0);
        line.push(br#"{"id":5,"result":{"rows":["#, false, &mut host, idle);
        for (at, (piece, judge)) in pieces.iter().enumerate() {
            line.push(piece.as_bytes(), at + 1 == pieces.len(), &mut host, judge);
        }
        drop(host);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    })
}

#[test]
fn a_long_answer_is_whole_though_a_call_is_held_before_it_ends() {
    let text = [r#"{"name":"Ada","text":"{\"id\":7}"},"#, "{\"name\":\"Bob\"}]}}\n"];
    assert!(read(&[(text[0], idle), (text[1], held)]).ends_with(text[1]));
    // A second id, also one that is cut between two pieces; and one that came while nothing was held.
    for piece in [r#"1]},"id":7"#, r#"1]},"ID" : 1"#, r#"1]},"\u0069d":1"#, r#"1]},"i\u0064":1"#] {
        assert!(read(&[(piece, held), ("}\n", held)]).ends_with("!\n"), "{piece}");
    }
    assert!(read(&[(r#"1]},"i"#, held), ("d\":7}\n", held)]).ends_with("!\n"));
    assert!(read(&[(r#"1]},"id":7"#, idle), ("}\n", idle)]).ends_with("\"id\":7}\n"));
}

#[test]
fn a_key_is_told_from_a_text() {
    for text in [r#""{\"id\":7}""#, r#""idea""#, r#""paid""#, r#""\u00e9""#, r#""id!""#] {
        let end = format!("{text}]}}}}\n");
        assert!(read(&[("1,", held), (&end, held)]).ends_with(&end), "{text}");
    }
}

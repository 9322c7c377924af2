//! Cutting: what comes out depends on the bytes, never on where chunks end; and what is said of a line that was dropped.

use mcp_approve::wire::message::{BeyondCap, Cutter, Piece, overlong};

use super::refused;

/// The pieces of a transcript in words; a streamed line's pieces joined, since where they part is the chunks' doing.
fn cut(chunks: &[&[u8]], cap: usize, beyond: BeyondCap) -> Vec<String> {
    let (mut words, mut streamed) = (Vec::new(), None::<Vec<u8>>);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut cutter = Cutter::new(cap, beyond);
    for chunk in chunks {
        cutter.feed(chunk, &mut |piece| match piece {
            Piece::Line(line) => words.push(format!("line {:?}", text(line.bytes()))),
            Piece::Overlong { head, bytes } => {
                words.push(format!("overlong {bytes} {}", text(&head)));
            }
            Piece::Start(bytes) => assert!(streamed.replace(bytes).is_none(), "one line at a time"),
            Piece::More { bytes, last } => {
                let mut line = streamed.take().expect("a start before more");
                line.extend_from_slice(bytes);
                if last {
                    words.push(format!("streamed {:?}", text(&line)));
                } else {
                    streamed = Some(line);
                }
            }
        });
    }
    words.extend(cutter.finish().map(|tail| format!("tail {}", text(&tail))));
    words
}

#[test]
fn chunks_do_not_change_what_is_cut() {
    let transcript = b"one\n\ntwelve chars\r\nexactly-ten\n0123456789\ntail";
    let table = [
        (
            BeyondCap::Drop,
            vec![
                r#"line "one\n""#, r#"line "\n""#, "overlong 13 twelve chars\r", "overlong 11 exactly-ten",
                r#"line "0123456789\n""#, "tail tail",
            ],
        ),
        (
            BeyondCap::Stream,
            vec![
                r#"line "one\n""#, r#"line "\n""#, r#"streamed "twelve chars\r\n""#, r#"streamed "exactly-ten\n""#,
                r#"line "0123456789\n""#, "tail tail",
            ],
        ),
    ];
    for (beyond, expected) in table {
        assert_eq!(cut(&[transcript], 10, beyond), expected);
        for first in 0..=transcript.len() {
            for second in first..=transcript.len() {
                let chunks = [&transcript[..first], &transcript[first..second], &transcript[second..]];
                assert_eq!(cut(&chunks, 10, beyond), expected, "split at {first} and {second}");
            }
        }
        let bytes: Vec<&[u8]> = transcript.chunks(1).collect();
        assert_eq!(cut(&bytes, 10, beyond), expected);
    }
}

#[test]
fn a_dropped_line_leaves_its_head_only() {
    let long = [b"x".repeat(9000), b"\n".to_vec()].concat();
    let mut found = Vec::new();
    let mut cutter = Cutter::new(100, BeyondCap::Drop);
    for chunk in long.chunks(70) {
        cutter.feed(chunk, &mut |piece| {
            if let Piece::Overlong { head, bytes } = piece {
                found.push((head.len(), bytes));
            }
        });
    }
    assert_eq!(found, [(4096, 9000)]);
}

#[test]
fn a_line_beyond_the_cap_is_answered_where_it_can_be() {
    let table = [
        (r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"x":"aaa"#, "refused -32600 id 5"),
        (r#"{"jsonrpc":"2.0","method":"tools/call","params":{"x":"aaa"#, "refused -32600 id null"),
        (r#"{"result":{"x":"aaa"#, "refused -32600 unanswered"),
        (r#"{"id":5,"result":{"x":"aaa"#, "refused -32600 unanswered"),
        ("aaaa", "refused -32600 id null"),
    ];
    for (head, expected) in table {
        assert_eq!(refused(&overlong(head.as_bytes(), 99, 10)), expected, "{head}");
    }
}

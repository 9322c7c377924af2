//! The scanner of lines that stream by: the same knowledge from any pieces, as early as it can be had.

use mcp_approve::wire::digest::StreamHasher;
use mcp_approve::wire::message::Gist;
use mcp_approve::wire::stream::EnvelopeScanner;

const LINES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"text":"a \"quoted\" {[\\"},[1,[2]],"}"]}}"#,
    r#"{"result":{"id":"not this","method":"nor this"},"other":"\\","n":-1.5e3,"t":true,"jsonrpc":"2.0","id":"\u0078"}"#,
    r#"{"error":{"code":-1},"id":0}"#,
    r#"{"\u0069d":3,"m\u0065thod":"roots\/list"}"#,
    r#"{"method":"notifications/message","params":{"data":"id"}}"#,
    r#" { "id" : 12 , "result" : [ ] } "#,
    r#"{"id":12}"#,
    r#"{"id":[12],"result":{}}"#,
    r#"{"id":1,"id":1,"result":{}}"#,
    r#"{"id" 1}"#,
    r#"{"id":1,"result":{},"I\u0064":5}"#,
    "[]",
];

#[test]
fn pieces_do_not_change_what_is_learnt() {
    for line in LINES {
        let bytes = line.as_bytes();
        let mut whole = EnvelopeScanner::default();
        whole.feed(bytes);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let mut scanner = EnvelopeScanner::default();
                for piece in [&bytes[..first], &bytes[first..second], &bytes[second..]] {
                    scanner.feed(piece);
                }
                assert_eq!(scanner.finish(), whole.finish(), "{line} at {first}, {second}");
                assert_eq!(scanner.gist(), whole.gist(), "{line} at {first}, {second}");
            }
        }
    }
}

#[test]
fn a_scanner_is_done_once_id_and_kind_are_known() {
    let table = [
        (r#"{"jsonrpc":"2.0","id":7,"result":"#, true),
        (r#"{"jsonrpc":"2.0","id":7,"#, false),
        (r#"{"result":{"content":[{"text":"long"#, false),
        (r#"{"result":{},"id":"x""#, true),
        (r#"{"id":1,"method":"roots/list","#, true),
        ("no JSON", true),
        ("[", true),
    ];
    for (beginning, done) in table {
        let mut scanner = EnvelopeScanner::default();
        scanner.feed(beginning.as_bytes());
        assert_eq!(scanner.is_done(), done, "{beginning}");
    }
}

#[test]
fn a_long_id_or_method_is_not_kept() {
    let long = "x".repeat(100_000);
    let line = format!(r#"{{"id":"{long}","method":"{long}","{long}":1}}"#);
    let mut scanner = EnvelopeScanner::default();
    for piece in line.as_bytes().chunks(1000) {
        scanner.feed(piece);
    }
    assert_eq!(scanner.id(), None);
    assert_eq!(scanner.method(), None);
    assert_eq!(scanner.finish(), Gist::Unreadable);
}

/// Whole blocks are hashed together, and pieces end anywhere.
#[test]
fn where_the_pieces_of_a_long_answer_end_does_not_change_its_digest() {
    const BLOCK: usize = 16 << 10;
    let text: Vec<u8> = (0..100_000_u32).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
    let whole = format!("blake3:{}", blake3::hash(&text));
    let pieces: [&[usize]; 6] =
        [&[100_000], &[1000], &[65, 65_536], &[BLOCK - 1, 1, 2], &[BLOCK, 1, BLOCK, BLOCK], &[40_000, 0, 7]];
    for sizes in pieces {
        let (mut hasher, mut rest, mut sizes_again) = (StreamHasher::default(), text.as_slice(), sizes.iter().cycle());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(*sizes_again.next().unwrap()));
            hasher.update(piece);
            rest = after;
        }
        assert_eq!(hasher.finish().to_string(), whole, "{sizes:?}");
    }
}

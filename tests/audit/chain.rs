//! The chain: its definition by hand, and that no tampering passes.

use mcp_approve::audit::chain::{Break, GENESIS, Head, Row, Verifier, body_digest};
use mcp_approve::wire::digest::Digest;
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq)]
struct Record {
    seq: i64,
    writer: Vec<u8>,
    body: Vec<u8>,
    link: Vec<u8>,
}

/// The head of a whole chain, or its first break.
fn verify<'a>(rows: impl IntoIterator<Item = Row<'a>>) -> Result<Head, Break> {
    let mut verifier = Verifier::default();
    rows.into_iter().try_for_each(|row| verifier.take(&row).map(drop))?;
    Ok(verifier.head())
}

fn rows(records: &[Record]) -> impl Iterator<Item = Row<'_>> {
    records.iter().map(|r| Row { seq: r.seq, writer: &r.writer, body: &r.body, link: &r.link, origin: None })
}

fn sealed(bodies: &[Vec<u8>]) -> Vec<Record> {
    let mut head = Head::EMPTY;
    let seal = |(n, body): (usize, &Vec<u8>)| {
        let writer = [u8::try_from(n % 3).unwrap(); 16];
        head = head.next(&writer, body_digest(body));
        Record {
            seq: i64::try_from(head.seq).unwrap(),
            writer: writer.to_vec(),
            body: body.clone(),
            link: head.link.as_bytes().to_vec(),
        }
    };
    bodies.iter().enumerate().map(seal).collect()
}

#[test]
fn a_link_is_what_the_contract_says() {
    let inner = Digest::of(b"\x00{}");
    let mut bytes = vec![1];
    bytes.extend(GENESIS.as_bytes());
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend([9; 16]);
    bytes.extend(inner.as_bytes());
    let head = Head::EMPTY.next(&[9; 16], body_digest(b"{}"));
    assert_eq!((head.seq, head.link), (1, Digest::of(&bytes)));
}

#[test]
fn an_untouched_chain_holds() {
    let records = sealed(&[b"a".to_vec(), b"b".to_vec(), b"c".to_vec()]);
    let head = verify(rows(&records)).unwrap();
    assert_eq!(head.seq, 3);
    assert_eq!(head.link.as_bytes().as_slice(), records[2].link);
    assert_eq!(verify([]), Ok(Head::EMPTY));
}

#[test]
fn a_break_says_what_and_where() {
    let whole = sealed(&[b"a".to_vec(), b"b".to_vec(), b"c".to_vec()]);
    let cases: &[(&str, fn(&mut Vec<Record>), Break)] = &[
        ("a body changed", |r| r[1].body[0] ^= 1, Break::Changed { seq: 2 }),
        ("a writer changed", |r| r[1].writer[3] ^= 1, Break::Changed { seq: 2 }),
        ("a link changed", |r| r[0].link[31] ^= 128, Break::Changed { seq: 1 }),
        ("a writer cut", |r| r[2].writer.truncate(15), Break::Malformed { seq: 3 }),
        ("a link gone", |r| r[2].link.clear(), Break::Malformed { seq: 3 }),
        ("a record gone", |r| drop(r.remove(1)), Break::Missing { expected: 2, found: 3 }),
        ("the first gone", |r| drop(r.remove(0)), Break::Missing { expected: 1, found: 2 }),
        (
            "a record gone, the rest renumbered",
            |r| {
                r.remove(1);
                r[1].seq = 2;
            },
            Break::Changed { seq: 2 },
        ),
        (
            "two bodies swapped",
            |r| {
                let body = r[0].body.clone();
                r[0].body = r[1].body.clone();
                r[1].body = body;
            },
            Break::Changed { seq: 1 },
        ),
        ("a number below one", |r| r[0].seq = -1, Break::Missing { expected: 1, found: -1 }),
        (
            "a record twice",
            |r| {
                let again = r[1].clone();
                r.insert(1, again);
            },
            Break::Missing { expected: 3, found: 2 },
        ),
    ];
    for (name, tamper, expected) in cases {
        let mut records = whole.clone();
        tamper(&mut records);
        assert_eq!(verify(rows(&records)), Err(expected.clone()), "{name}");
    }
}

#[test]
fn a_check_goes_on_after_a_head_and_names_the_first_break() {
    let whole = sealed(&[b"a".to_vec(), b"b".to_vec(), b"c".to_vec(), b"d".to_vec()]);
    let half = verify(rows(&whole[..2])).unwrap();
    let mut rest = Verifier::after(half);
    assert_eq!(rest.head(), half);
    for (row, seq) in rows(&whole[2..]).zip(3..) {
        assert_eq!(rest.take(&row).unwrap().seq, seq);
    }
    assert_eq!(rest.head(), verify(rows(&whole)).unwrap());
    let broken = |change: &dyn Fn(&mut Vec<Record>)| {
        let mut records = whole.clone();
        change(&mut records);
        verify(rows(&records)).unwrap_err().seq()
    };
    assert_eq!(broken(&|records| records[2].body.push(0)), 3);
    assert_eq!(broken(&|records| drop(records.remove(1))), 2);
    assert_eq!(broken(&|records| records[3].link.truncate(31)), 4);
}

/// What an attacker does who can write to the file but does not compute links.
#[derive(Clone, Debug)]
enum Tamper {
    Flip { row: usize, field: usize, bit: usize },
    Delete { row: usize, renumber: bool },
    Swap { one: usize, other: usize, places: bool },
    Insert { row: usize, from: usize },
}

fn tamper() -> impl Strategy<Value = Tamper> {
    let n = 0..64usize;
    prop_oneof![
        (n.clone(), 0..3usize, 0..4096usize).prop_map(|(row, field, bit)| Tamper::Flip { row, field, bit }),
        (n.clone(), any::<bool>()).prop_map(|(row, renumber)| Tamper::Delete { row, renumber }),
        (n.clone(), n.clone(), any::<bool>()).prop_map(|(one, other, places)| Tamper::Swap { one, other, places }),
        (n.clone(), n).prop_map(|(row, from)| Tamper::Insert { row, from }),
    ]
}

fn renumber(records: &mut [Record]) {
    for (seq, record) in (1..).zip(records) {
        record.seq = seq;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tampering_is_found(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 2..12),
        tamper in tamper(),
    ) {
        let whole = sealed(&bodies);
        let anchor = verify(rows(&whole)).unwrap();
        let mut records = whole.clone();
        let n = records.len();
        match tamper {
            Tamper::Flip { row, field, bit } => {
                let record = &mut records[row % n];
                let bytes = match field {
                    0 => &mut record.body,
                    1 => &mut record.writer,
                    _ => &mut record.link,
                };
                let bit = bit % (bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            Tamper::Delete { row, renumber: yes } => {
                records.remove(row % n);
                if yes { renumber(&mut records); }
            }
            Tamper::Swap { one, other, places } => {
                records.swap(one % n, other % n);
                if !places { renumber(&mut records); }
            }
            Tamper::Insert { row, from } => {
                let record = whole[from % n].clone();
                records.insert(row % (n + 1), record);
                renumber(&mut records);
            }
        }
        prop_assume!(records != whole);
        // The end cut off, or its last record repeated nowhere: only the anchor shows that.
        let found = verify(rows(&records));
        prop_assert!(found.is_err() || found != Ok(anchor), "{tamper:?}");
        if records.len() >= n || records[..] != whole[..records.len()] {
            prop_assert!(found.is_err(), "{tamper:?}");
        }
    }

    #[test]
    fn a_cut_tail_is_found_by_an_anchor(n in 2..20usize, keep in 0..19usize) {
        let bodies: Vec<_> = (0..n).map(|i| vec![u8::try_from(i).unwrap()]).collect();
        let whole = sealed(&bodies);
        let anchor = verify(rows(&whole)).unwrap();
        let kept = verify(rows(&whole[..keep % n])).unwrap();
        prop_assert_ne!(kept.link, anchor.link);
    }
}

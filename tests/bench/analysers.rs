//! Times one analysis of ten kibibytes, per language: the product promises a millisecond.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use mcp_approve::behavior::arguments::sql::{self, Dialect};
use mcp_approve::behavior::arguments::{graphql, shell};

const BYTES: usize = 10 * 1024;

/// One line per language: the median of a hundred.
pub fn ten_kibibytes() -> String {
    let selects = filled(
        "SELECT a.id, b.name, count(*) FROM a JOIN b ON a.id = b.a WHERE a.x = 'y' AND b.z IN (1, 2) ",
        " GROUP BY a.id",
        |n| format!("OR (a.c{n} = {n} AND b.d{n} LIKE 'x%') "),
    );
    let list = filled("SELECT * FROM t WHERE id IN (1", ")", |n| format!(", {n}"));
    let operations = filled("{ a ", "}", |n| format!("f{n}(id: {n}) {{ id name }} "));
    let script = filled("ls ", "", |n| format!("&& echo \"file {n}\" | grep x{n} "));
    let postgres = Some(Dialect::PostgreSql);
    let rows: [(&str, Duration); 6] = [
        ("SQL, PostgreSQL", median(|| sql::read(&selects, postgres).meaning.says.len())),
        ("SQL, any dialect", median(|| sql::read(&selects, None).meaning.says.len())),
        ("SQL, a long list", median(|| sql::read(&list, postgres).meaning.says.len())),
        ("SQL, a long list, any", median(|| sql::read(&list, None).meaning.says.len())),
        ("GraphQL", median(|| graphql::read(&operations).says.len())),
        ("shell", median(|| shell::read(&script).says.len())),
    ];
    let judged = |dialect| format!("{:?}", sql::read(&selects, dialect).meaning.action);
    let mut lines = format!("10 KiB: PostgreSQL {}, any {}", judged(postgres), judged(None));
    for (name, time) in rows {
        let _ = write!(lines, "\n  {name:<22} {time:?}");
    }
    lines
}

fn filled(head: &str, tail: &str, piece: impl Fn(usize) -> String) -> String {
    let mut text = head.to_owned();
    for n in 0.. {
        if text.len() + 60 > BYTES {
            break;
        }
        text += &piece(n);
    }
    text + tail
}

fn median(work: impl Fn() -> usize) -> Duration {
    let mut times: Vec<Duration> = (0..100)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(work());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[50]
}

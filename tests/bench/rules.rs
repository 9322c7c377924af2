//! Times one ruling under many rules: `cargo bench --bench rules -- [ROUNDS]`.
//!
//! Figures are of this machine at this moment, and of the profile it was built with; only figures taken by turns can be
//! compared.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench tells its figures, and has nobody to report to")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::policy::decide::{Question, decide};
use mcp_approve::policy::lint::lint;
use mcp_approve::policy::maker::proposals;
use mcp_approve::policy::parse::parse_at;
use mcp_approve::policy::rate::Recent;
use mcp_approve::policy::rule::Policy;
use mcp_approve::policy::under::Roots;
use serde_json::{Value, json};

const RULES: usize = 1000;
const LIMIT: Duration = Duration::from_micros(200);

fn main() {
    let rounds: usize = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(2000);
    let arguments =
        json!({ "path": "/home/me/work/deep/er/notes/a.txt", "content": "x".repeat(2000), "mode": "append" });
    let sql = json!({ "sql": "SELECT name, mail FROM users WHERE id = 12 AND name LIKE 'a%' ORDER BY name LIMIT 10" });
    println!("{RULES} rules, one call, {rounds} rounds; wanted: at most {LIMIT:?} in release");
    one("of other servers", rounds, &arguments, |n| format!("server = 's{n}'\ntool = 'write_*'"));
    one("of this server, other tools", rounds, &arguments, |n| format!("server = 'fs'\ntool = '*tool_{n}'"));
    one("of this tool, other paths", rounds, &arguments, |n| {
        format!("server = 'fs'\ntool = 'write_file'\nwhen = [{{ arg = 'path', under = '~/work/deep/er/{n}' }}]")
    });
    one("of this tool, globs over a long text", rounds, &arguments, |n| {
        format!("server = 'fs'\ntool = 'write_file'\nwhen = [{{ arg = 'content', glob = '*{n}*' }}]")
    });
    one("of this tool, statements", rounds, &sql, |n| {
        format!("tool = 'write_file'\nwhen = [{{ sql = 'SELECT a FROM t{n}' }}]")
    });
    one("of this tool, rates", rounds, &arguments, |n| {
        format!("tool = 'write_file'\nwhen = [{{ rate = {{ over = {n}, per = '1h' }} }}]")
    });
    for rules in [RULES, 10 * RULES] {
        let rule = |n| {
            let decision = ["allow", "ask", "deny"][n % 3];
            format!(
                "[[rule]]\nid = 'r{n}'\ndecision = '{decision}'\nserver = 's{}*'\ntool = ['t{n}', '*_{n}']\n",
                n % 50
            )
        };
        let policy = parse_at(&format!("version = 1\n{}", (0..rules).map(rule).collect::<String>()), &roots()).unwrap();
        let start = Instant::now();
        let found = lint(&policy, 0).len();
        println!("{:42} {:>9.1?} ({found} warnings)", format!("{rules} rules looked over"), start.elapsed());
    }
    let behavior = Behavior::unknown();
    let call = Question {
        method: None,
        server: "fs",
        tool: "write_file",
        arguments: &arguments,
        behavior: &behavior,
        now: 0,
        recent: None,
    };
    let start = Instant::now();
    let made = proposals(&call, &roots()).unwrap().len();
    println!("{:42} {:>9.1?} ({made} scopes)", "rules made from one call", start.elapsed());
}

fn roots() -> Roots {
    Roots { home: Some("/home/me".to_owned()), folder: Some("/home/me/work".to_owned()), ..Roots::default() }
}

fn one(title: &str, rounds: usize, arguments: &Value, body: impl Fn(usize) -> String) {
    let rule = |n| format!("[[rule]]\nid = 'r{n}'\ndecision = 'deny'\n{}\n", body(n));
    let text = format!("version = 1\n{}", (0..RULES).map(rule).collect::<String>());
    let start = Instant::now();
    let policy = parse_at(&text, &roots()).unwrap();
    let read = start.elapsed();
    let behavior = Behavior::unknown();
    let mut recent = Recent::default();
    (0..RULES).for_each(|n| recent.note("fs", None, "write_file", i64::try_from(n).unwrap()));
    let mut times: Vec<Duration> = (0..rounds).map(|_| ruled(&policy, &behavior, arguments, &recent)).collect();
    times.sort();
    let (median, high) = (times[rounds / 2], times[rounds * 99 / 100]);
    let of_limit = 100.0 * median.as_secs_f64() / LIMIT.as_secs_f64();
    println!("{title:42} {median:>9.1?} ({of_limit:.0} % of the limit), p99 {high:.1?}; read in {read:.1?}");
}

fn ruled(policy: &Policy, behavior: &Behavior, arguments: &Value, recent: &Recent) -> Duration {
    let question = Question {
        method: None,
        server: "fs",
        tool: "write_file",
        behavior,
        arguments,
        now: 1_000_000,
        recent: Some(recent),
    };
    let start = Instant::now();
    black_box(decide(policy, black_box(&question)));
    start.elapsed()
}

//! Many wrappers on one log: each call is decided and recorded, however many write at once.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::bed::{Measured, Run, grouped, in_parallel};
use crate::fake::{BINARY, log};
use crate::kills::{decisions, home};
use crate::players;

const WRAPPERS: u64 = 100;

/// R5. One call at a time in each wrapper, all wrappers at once; each hundredth is a write that must be synced.
pub fn hundred(run: &Run) -> Measured {
    let each = run.of(1_000);
    let (home, policy) = home();
    let failed_and_p99 = in_parallel(WRAPPERS, WRAPPERS, |worker| {
        let heard = home.path().join(format!("heard-{worker}"));
        let mut child = Command::new(BINARY)
            .arg("--home")
            .arg(home.path())
            .args(["--name", &format!("s{worker}"), "--policy"])
            .arg(&policy)
            .arg("--")
            .args(players::role(&["listener", heard.to_str().unwrap()]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut to = child.stdin.take().unwrap();
        let mut from = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        let mut asks = |text: &str| {
            to.write_all(text.as_bytes()).unwrap();
            line.clear();
            from.read_line(&mut line).unwrap();
            line.clone()
        };
        asks(concat!(
            r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
            "\n"
        ));
        asks(concat!(
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#,
            "\n"
        ));
        let (mut failed, mut times, mut reads) = (0_u64, Vec::new(), Vec::new());
        for n in 0..each {
            let tool = if n % 100 == 50 { "write" } else { "read" };
            let call = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\
                 \"arguments\":{{\"text\":\"{worker} {n}\"}}}}}}\n"
            );
            let began = Instant::now();
            let answer = asks(&call);
            times.push(began.elapsed());
            reads.extend((tool == "read").then(|| began.elapsed()));
            failed += u64::from(answer.contains("isError") || !answer.contains("\"result\""));
        }
        drop(to);
        assert!(child.wait().unwrap().success());
        times.sort_unstable();
        reads.sort_unstable();
        let middle = times[times.len() / 2];
        (failed, times[times.len() * 99 / 100], times[times.len() - 1], middle, reads[reads.len() * 99 / 100])
    });
    let failed: u64 = failed_and_p99.iter().map(|one| one.0).sum();
    let worst = failed_and_p99.iter().map(|one| one.1).max().unwrap_or_default();
    let longest = failed_and_p99.iter().map(|one| one.2).max().unwrap_or_default();
    // What no disk is waited for says how much of it is the turn on the processors.
    let mut middles: Vec<_> = failed_and_p99.iter().map(|one| one.3).collect();
    middles.sort_unstable();
    let reads = failed_and_p99.iter().map(|one| one.4).max().unwrap_or_default();
    log::verifies(home.path());
    let recorded = decisions(&home.path().join("state/audit.db")).len() as u64;
    let wanted = each * WRAPPERS;
    Measured::held(
        failed == 0 && recorded == wanted && worst < Duration::from_secs(1),
        format!(
            "{} decisions, {failed} failed, {} lost, worst p99 {} ms ({} of reads alone; p50 {}), longest {} ms",
            grouped(recorded),
            wanted - recorded,
            worst.as_millis(),
            reads.as_millis(),
            middles[middles.len() / 2].as_millis(),
            longest.as_millis()
        ),
    )
}

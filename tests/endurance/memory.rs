//! What a wrapper holds in memory while one side sends without end, or does not read.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::bed::{Measured, Run, comes, peak_kib};
use crate::fake::BINARY;
use crate::players;

const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    "\n"
);
const REST: &str = concat!(
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#,
    "\n"
);
const CALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"title":"x"}}}"#,
    "\n"
);
const NO_PEAK: &str = "this system does not tell a process's peak memory (/proc/PID/status)";

/// A wrapper with bare pipes, after the handshake.
struct Bare {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    _home: tempfile::TempDir,
}

impl Bare {
    fn over(server: &[String]) -> Self {
        let home = tempfile::tempdir().unwrap();
        // Long texts are explained by nothing, and these calls are to run.
        let config = home.path().join("config");
        std::fs::create_dir(&config).unwrap();
        let rule = "version = 1\n[[rule]]\nid = 'read'\ndecision = 'allow'\ntool = 'read'\n";
        std::fs::write(config.join("policy.toml"), rule).unwrap();
        let mut child = Command::new(BINARY)
            .arg("--home")
            .arg(home.path())
            .args(["--name", "s", "--"])
            .args(server)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut bare = Self { child, to, from, _home: home };
        bare.say(INITIALIZE);
        bare.line();
        bare.say(REST);
        bare.line();
        bare
    }

    fn say(&mut self, text: &str) {
        self.to.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line
    }

    fn peak(&self) -> Option<f64> {
        Some(f64::from(u32::try_from(peak_kib(self.child.id())?).unwrap()) / 1024.0)
    }

    /// Reads one line away, however long; how long it was.
    fn swallow(&mut self) -> u64 {
        let mut bytes = 0;
        loop {
            let chunk = self.from.fill_buf().unwrap();
            assert!(!chunk.is_empty(), "the pipe ended after {bytes} bytes");
            let end = memchr::memchr(b'\n', chunk);
            let taken = end.map_or(chunk.len(), |at| at + 1);
            bytes += taken as u64;
            self.from.consume(taken);
            if end.is_some() {
                return bytes;
            }
        }
    }

    fn ends(mut self) {
        drop(self.to.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// R8. A line of 1 GiB passes from the server; one that the host sends is refused, and the session goes on.
pub fn long_lines(run: &Run) -> Measured {
    let size = usize::try_from(run.of(1 << 30)).unwrap();
    let mut passing = Bare::over(&players::role(&["gush", &size.to_string()]));
    passing.say(CALL);
    let bytes = passing.swallow();
    assert!(bytes > size as u64, "{bytes} of {size} bytes passed");
    let Some(peak) = passing.peak() else { return Measured::skipped(NO_PEAK) };
    passing.ends();

    let mut sending = Bare::over(&players::role(&["gush", "1"]));
    let mut to = sending.to.take().unwrap();
    let writer = thread::spawn(move || {
        to.write_all(br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"text":""#)
            .unwrap();
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..(size >> 20).max(20) {
            to.write_all(&chunk).unwrap();
        }
        to.write_all(b"\"}}}\n").unwrap();
        to
    });
    let answer = sending.line();
    sending.to = Some(writer.join().unwrap());
    let refused = answer.contains("-32600") && answer.contains("\"id\":2") && answer.contains("at most");
    sending.say(CALL);
    assert!(sending.line().contains("\"result\""), "the session does not go on");
    let held = sending.peak().unwrap_or(f64::MAX);
    sending.ends();
    let word = if refused { "refused" } else { "NOT REFUSED" };
    Measured::held(
        peak <= 16.0 && refused,
        format!("{peak:.1} MiB from the server; {word}, {held:.1} MiB from the host (16 MiB are one legal line)"),
    )
}

/// R13. The server stops reading with calls queued, first small ones, then 100 MB of them; then it goes on.
pub fn stopped_server(run: &Run) -> Measured {
    let mut peaks = Vec::new();
    for size in [100, 100_000] {
        let calls = if size > 1_000 { run.of(1_000) } else { 1_000 };
        let heard = tempfile::tempdir().unwrap();
        let pids = heard.path().join("pids");
        let listener = players::role(&["listener", heard.path().join("heard").to_str().unwrap()]);
        let mut server: Vec<String> =
            ["sh", "-c", "echo $$ > \"$0\"; exec \"$@\"", pids.to_str().unwrap()].map(String::from).into();
        server.extend(listener);
        let mut bare = Bare::over(&server);
        let pid = crate::fake::processes::awaits(&pids, 1)[0];
        let signal = |signal| kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
        signal(Signal::STOP);
        let mut to = bare.to.take().unwrap();
        let text = "x".repeat(size);
        let writer = thread::spawn(move || {
            for id in 1..=calls {
                let line = format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"read\",\
                     \"arguments\":{{\"text\":\"{text}\"}}}}}}\n"
                );
                to.write_all(line.as_bytes()).unwrap();
            }
            to
        });
        // Small ones fit into the queue; large ones are held back in the host's own pipe.
        comes(Duration::from_secs(4), || writer.is_finished());
        thread::sleep(Duration::from_millis(300));
        signal(Signal::CONT);
        for _ in 0..calls {
            let line = bare.line();
            assert!(line.contains("\"result\"") && !line.contains("isError"), "{line}");
        }
        bare.to = Some(writer.join().unwrap());
        let Some(peak) = bare.peak() else { return Measured::skipped(NO_PEAK) };
        peaks.push(peak);
        bare.ends();
    }
    let (small, large) = (peaks[0], peaks[1]);
    Measured::held(
        small <= 16.0 && large <= 160.0,
        format!("all answered; {small:.1} MiB with calls of 100 B, {large:.1} MiB with 100 KB (queue: 64 MiB)"),
    )
}

/// R14. The host reads a byte each millisecond while the server sends 256 MiB; then as fast as it can.
pub fn slow_host(run: &Run) -> Measured {
    let size = usize::try_from(run.of(256 << 20)).unwrap();
    let mut bare = Bare::over(&players::role(&["gush", &size.to_string()]));
    bare.say(CALL);
    let until = Instant::now() + Duration::from_secs(2);
    let (mut slowly, mut byte) = (1, [0; 1]);
    // The line is on its way (a call waits for its record, and what is no call would overtake it); the host still speaks.
    bare.from.get_mut().read_exact(&mut byte).unwrap();
    for id in 0..100 {
        bare.say(&format!("{{\"jsonrpc\":\"2.0\",\"id\":\"p{id}\",\"method\":\"ping\"}}\n"));
    }
    while Instant::now() < until {
        bare.from.get_mut().read_exact(&mut byte).unwrap();
        slowly += 1;
        thread::sleep(Duration::from_millis(1));
    }
    let bytes = bare.swallow() + slowly;
    assert!(bytes > size as u64, "{bytes} of {size} bytes arrived");
    for _ in 0..100 {
        assert!(bare.line().contains("\"p"), "the answers to the host's own words are lost");
    }
    let Some(peak) = bare.peak() else { return Measured::skipped(NO_PEAK) };
    bare.ends();
    Measured::held(
        peak <= 16.0,
        format!("{peak:.1} MiB; {slowly} bytes read one by one, then {} MiB whole", size >> 20),
    )
}

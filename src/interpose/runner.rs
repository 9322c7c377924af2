//! Runs a program of the operator's, such as an approver: one line of JSON on its stdin, what it writes on stdout. No shell, the system's PATH, no
//! terminal among its streams. Whoever drops the run ends the program with everything that it has started.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::threads::{FromThreads, ToLoop};
use crate::gate::data::{event::Event, facts::Opinion};
use crate::home::config::approver::{Callback, PATH};
use crate::policy::Decision;

/// How long an answer may be, in bytes; a longer one is an error.
const ANSWER: u64 = 64 << 10;

/// Runs it to its end. It takes as long as the program does: the caller limits that.
pub(super) async fn run(command: &[OsString], folder: &Path, line: &str) -> Result<Vec<u8>, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("it has no command".to_owned());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("PATH", PATH)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("it cannot be run: {error}"))?;
    let mut group = Group(child.id());
    let (mut to, from) = (child.stdin.take(), child.stdout.take());
    let line = format!("{line}\n");
    let write = async {
        if let Some(to) = &mut to {
            // It may not read, and close the pipe: what it writes counts all the same.
            let _ = to.write_all(line.as_bytes()).await;
        }
        drop(to.take());
    };
    let read = async {
        let mut text = Vec::new();
        if let Some(from) = from {
            from.take(ANSWER + 1).read_to_end(&mut text).await.map_err(|error| error.to_string())?;
        }
        Ok::<_, String>(text)
    };
    let ((), text) = tokio::join!(write, read);
    let text = text?;
    if text.len() as u64 > ANSWER {
        return Err(format!("its answer is longer than {ANSWER} bytes"));
    }
    let status = child.wait().await.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("it failed ({status})"));
    }
    group.0 = None;
    Ok(text)
}

/// The process group of a program that has not ended well; dropping it ends what is left of it.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        let leader = self.0.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(leader) = leader {
            // An error is fine: usually there is nothing left.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// How much of its reason is kept, in bytes.
const REASON: usize = 2 << 10;

/// What it answers. Anything else in the object is ignored.
#[derive(Deserialize)]
struct Answer {
    decision: Decision,
    #[serde(default)]
    reason: String,
}

/// Asks all approvers of these names at once; what they say goes to the loop. Call it within a runtime.
pub fn consult(
    callbacks: &[Callback],
    names: &[String],
    (ticket, consult): (String, u64),
    call: &str,
    to_loop: ToLoop,
) {
    let mut asked = JoinSet::new();
    for callback in callbacks.iter().filter(|known| names.contains(&known.name)) {
        let (callback, call) = (callback.clone(), call.to_owned());
        asked.spawn(async move { opinion(&callback, &call).await });
    }
    let names = names.to_vec();
    tokio::spawn(async move {
        let mut opinions = Vec::new();
        while let Some(said) = asked.join_next().await {
            opinions.extend(said);
        }
        opinions.sort_by(|one: &Opinion, other| one.name.cmp(&other.name));
        for name in names {
            if !opinions.iter().any(|one| one.name == name) {
                let reason = "it could not be run".to_owned();
                opinions.push(Opinion { name, decision: Decision::Ask, reason, failed: true, latency_us: 0 });
            }
        }
        to_loop.tell(FromThreads::Event(Event::Consulted { ticket, consult, opinions }));
    });
}

async fn opinion(callback: &Callback, call: &str) -> Opinion {
    let start = Instant::now();
    let said = match timeout(callback.timeout, answer(callback, call)).await {
        Ok(said) => said,
        Err(_) => Err(format!("it did not answer within {} ms", callback.timeout.as_millis())),
    };
    let latency_us = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    let name = callback.name.clone();
    match said {
        Ok(Answer { decision, mut reason }) => {
            reason.truncate(reason.floor_char_boundary(REASON));
            Opinion { name, decision, reason, failed: false, latency_us }
        }
        Err(reason) => Opinion { name, decision: Decision::Ask, reason, failed: true, latency_us },
    }
}

async fn answer(callback: &Callback, call: &str) -> Result<Answer, String> {
    let said = run(&callback.command, &callback.folder, call).await?;
    serde_json::from_slice(&said)
        .map_err(|_| r#"it did not answer with an object like {"decision":"allow|ask|deny","reason":"..."}"#.to_owned())
}

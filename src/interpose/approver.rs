//! Runs approvers: a command gets a call as JSON on stdin, and answers on stdout. After any error the operator is asked.

use std::time::Instant;

use serde::Deserialize;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::runner;
use super::threads::{FromThreads, ToLoop};
use crate::gate::data::event::Event;
use crate::gate::data::opinion::Opinion;
use crate::home::config::approver::Callback;
use crate::policy::rule::Decision;

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
    let said = runner::run(&callback.command, &callback.folder, call).await?;
    serde_json::from_slice(&said)
        .map_err(|_| r#"it did not answer with an object like {"decision":"allow|ask|deny","reason":"..."}"#.to_owned())
}

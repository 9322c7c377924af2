//! The one writer to the server's pipe. A call passes only with its guardrail token; there is no other way in.

use std::sync::Arc;

use super::stdio::Outbox;
use crate::gate::data::effect::OwnLine;
use crate::gate::data::token::{GuardrailToken, NotThisCall};
use crate::wire::{Call, Line, Plain};

#[derive(Debug)]
pub struct Server {
    outbox: Outbox,
    /// The wrapper that tokens must come from.
    wrapper: Arc<str>,
}

impl Server {
    /// The writer in front of the server's stdin, for the wrapper of this name.
    pub fn new(outbox: Outbox, wrapper: Arc<str>) -> Self {
        Self { outbox, wrapper }
    }

    /// Writes a call's bytes as received. Consumes the proof.
    /// Errors: [`NotThisCall`]: the token is for other bytes or another wrapper; nothing is written.
    pub fn forward(&mut self, token: GuardrailToken, call: Call) -> Result<(), NotThisCall> {
        let bytes = token.redeem(&self.wrapper, call)?;
        self.outbox.push(bytes);
        Ok(())
    }

    /// Trades a request of the server's own for its line, which goes to the host. Consumes the proof.
    pub fn release(&self, token: GuardrailToken, call: Call) -> Result<Line, NotThisCall> {
        token.redeem(&self.wrapper, call).map(Line::new)
    }

    /// Passes a message other than a call.
    pub fn relay(&mut self, plain: Plain) {
        self.outbox.push(plain.into_line().into_bytes());
    }

    pub fn write_own(&mut self, line: OwnLine) {
        self.outbox.push(line.into_line().into_bytes());
    }

    pub fn flush(&mut self) {
        self.outbox.flush();
    }

    /// Waits until the pipe takes more.
    pub async fn writable(&self) {
        self.outbox.writable().await;
    }

    pub fn queued(&self) -> usize {
        self.outbox.queued()
    }

    pub fn is_gone(&self) -> bool {
        self.outbox.is_broken()
    }

    /// Closes the server's stdin as soon as everything queued is written; takes nothing more.
    pub fn close_when_written(&mut self) {
        self.outbox.close_when_written();
    }
}

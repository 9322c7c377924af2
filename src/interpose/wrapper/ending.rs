//! How the loop ends: the server's last bytes and its end, then host, log and consoles are closed. Decides nothing.

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use super::{DRAIN, LEFTOVERS, Wrapper};
use crate::gate::data::event::{Event, Side};
use crate::interpose::child::Ended;
use crate::interpose::longline::{LongLine, Way, way};
use crate::interpose::notice;
use crate::interpose::scribe::Done;
use crate::interpose::stopping::Stopping;
use crate::wire::line::Cutter;
use crate::wire::message;

impl Wrapper {
    /// What the server left of a line when it ended: passed on as it is, unless the host could take it for the answer to a
    /// call that is held.
    pub(super) fn server_tail(&mut self, long: Option<LongLine>, cutter: Cutter) {
        let way = way(&self.gate);
        if let Some(line) = long {
            self.host.write_open(&line.tail(&way));
        }
        if let Some(tail) = cutter.finish().filter(|tail| way(&message::peek(tail)) == Way::ToHost) {
            self.host.write_open(&tail);
        }
    }

    /// Closes the server's stdin once everything for it is written, and starts its end.
    pub(super) fn close_server(&mut self) {
        let now = self.clock.now();
        self.server.close_when_written();
        self.stopping.get_or_insert_with(|| Stopping::asked(now.mono));
    }

    pub(super) fn server_ended(&mut self, ended: &Ended) {
        let now = self.clock.now();
        self.step(now, Event::ServerInputClosed { how: ended.to_string() });
        self.stopping = Some(Stopping::leftovers(now.mono, LEFTOVERS));
    }

    /// Closes host, log and consoles, each within its time.
    pub(super) async fn finish(mut self, ended: &Ended, done: &mut UnboundedReceiver<Done>) {
        let now = self.clock.now();
        self.step(now, Event::Closed { side: Side::Server, how: ended.to_string() });
        let until = Instant::now() + DRAIN;
        loop {
            self.host.close_open_line();
            self.flush();
            if self.gate.is_quiet() && (self.host.queued() == 0 || self.host.is_gone()) {
                break;
            }
            tokio::select! {
                Some(done) = done.recv() => self.recorded(done),
                () = self.host.writable() => {}
                () = sleep_until(until) => break,
            }
        }
        self.child.kill();
        if let Some(batch) = self.entry_buffer.all() {
            // These are the last entries; nothing waits for their receipts.
            let _ = self.scribe.record(self.clock.now().mono, batch);
        }
        if let Err(err) = self.scribe.finish() {
            tracing::error!(%err, "the log was left");
            notice::say(&err.to_string());
        }
    }
}

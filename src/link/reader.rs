//! One thread per wrapper: reads its lines and passes them to the console. Writes nothing.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;

use super::event::{Callback, ClientEvent};
use super::job::{Admission, Key, Parting, WatcherJob};
use super::message::{FromWrapper, Greeting, LONGEST_FROM_WRAPPER, PROTOCOL};

/// Reads until the wrapper ends or sends something invalid.
pub(super) fn listen(stream: &UnixStream, key: Key, tell: &mpsc::Sender<WatcherJob>, on: &Callback) {
    let mut lines = Lines(BufReader::with_capacity(64 * 1024, stream), Ending::Closed);
    let parting = talk(&mut lines, &key, tell, on);
    // This fails only once the watcher has ended.
    let _ = tell.send(WatcherJob::Lost { key, parting });
}

fn talk(lines: &mut Lines<'_>, key: &Key, tell: &mpsc::Sender<WatcherJob>, on: &Callback) -> Parting {
    let Some(first) = lines.next() else {
        return Parting::Unconnected;
    };
    let Some(greeting) = Greeting::read(&first) else {
        let what = match serde_json::from_slice(&first) {
            Ok(FromWrapper::Refused { why, .. }) => why,
            _ => "a wrapper speaks a link protocol that this console does not know; install the same version for both"
                .to_owned(),
        };
        on(ClientEvent::Trouble(what));
        return Parting::Unconnected;
    };
    let (session, wrapper) = match serde_json::from_slice(&first) {
        Ok(FromWrapper::Hello { protocol: PROTOCOL, wrapper, .. }) => (wrapper.session.clone(), wrapper),
        _ => return listen_until_gone(lines, greeting, on),
    };
    let (answer, admitted) = mpsc::channel();
    let met = WatcherJob::Met { key: key.clone(), session: session.clone(), answer };
    if tell.send(met).is_err() {
        return Parting::Unconnected;
    }
    match admitted.recv() {
        Ok(Admission::Connect) => {}
        Ok(Admission::Refuse) => {
            on(ClientEvent::Trouble(format!(
                "a second wrapper calls itself session {session:?}; it is not shown: find out what it is"
            )));
            return Parting::Unconnected;
        }
        Err(_) => return Parting::Unconnected,
    }
    on(ClientEvent::Connected(wrapper));
    let parting = loop {
        let Some(line) = lines.next() else {
            if lines.1 == Ending::TooLong {
                on(ClientEvent::Trouble(
                    "a wrapper sent more at once than a console accepts, so its calls cannot be shown here; they are \
                     denied at their deadline"
                        .to_owned(),
                ));
                // On a new connection it would send the same again.
                break Parting::Unconnected;
            }
            break Parting::Later;
        };
        match serde_json::from_slice(&line) {
            Ok(FromWrapper::Hello { .. }) | Err(_) => {
                let _ = tell.send(WatcherJob::Mute { key: key.clone() });
                on(ClientEvent::Gone { session });
                return listen_until_gone(lines, greeting, on);
            }
            Ok(message) => {
                let session = session.clone();
                on(ClientEvent::Said { session, message });
            }
        }
    };
    on(ClientEvent::Gone { session });
    parting
}

/// Keeps the connection to an incompatible wrapper, so that the console can say when it is gone.
fn listen_until_gone(lines: &mut Lines<'_>, greeting: Greeting, on: &Callback) -> Parting {
    let name = greeting.wrapper.server;
    on(ClientEvent::Incompatible { name: name.clone(), protocol: greeting.protocol, version: greeting.version });
    let _ = std::io::copy(&mut lines.0, &mut std::io::sink());
    on(ClientEvent::Gone { session: name });
    Parting::Later
}

struct Lines<'a>(BufReader<&'a UnixStream>, Ending);

/// Why there is no further line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Closed,
    TooLong,
}

impl Lines<'_> {
    /// The next whole line; `None` at the end, on an error, and when it is too long.
    fn next(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        let read = (&mut self.0).take(LONGEST_FROM_WRAPPER as u64).read_until(b'\n', &mut line);
        if line.len() == LONGEST_FROM_WRAPPER {
            self.1 = Ending::TooLong;
        }
        (read.is_ok() && line.ends_with(b"\n")).then_some(line)
    }
}

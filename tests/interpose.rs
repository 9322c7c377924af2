//! The shell around the gate, piece by piece: what looks find, what others count, which changes are noticed, what the host reads.

mod counts;
mod facts;
mod host;
mod longline;
mod notice;
mod watch;

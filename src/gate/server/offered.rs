//! What the host is told of the server's tools where a scope hides some: a page is cut once it was read. Reads no page itself.

use crate::audit::record::Kind;
use crate::gate::Gate;
use crate::gate::data::effect::{Effect, Passing};
use crate::gate::data::event::Now;
use crate::gate::server::catalog::Catalog;
use crate::gate::server::described::Offer;
use crate::gate::server::pages::Whole;
use crate::mcp::page;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::Gist;
use crate::wire::reply;

/// JSON-RPC: we could not do it.
const INTERNAL: i32 = -32603;

/// A page that cannot be cut: the host is told so under this id, and gets nothing of it.
#[derive(Debug)]
pub struct Unfit {
    pub id: Id,
}

impl Catalog {
    /// A page without the tools outside the scope, and how many those are. A tool that is not known exactly as the page has it
    /// is one of them.
    pub(super) fn offered(&self, whole: &Whole) -> Option<(Line, usize)> {
        let is_listed = |tool: &Option<(String, _)>| {
            let Some((name, digest)) = tool else { return false };
            self.seen(name).is_some_and(|known| known.digest == *digest && known.offer == Offer::Listed)
        };
        let keep: Vec<bool> = whole.tools.iter().map(is_listed).collect();
        let hidden = keep.iter().filter(|keep| !**keep).count();
        Some((page::cut(&whole.line, &keep)?, hidden))
    }
}

impl Gate {
    /// Whether the host gets a line of the server only after tools were cut out of it: a page of `tools/list`.
    pub(in crate::gate) fn cuts(&self, gist: &Gist) -> bool {
        match gist {
            Gist::Response { id, failed: false } => !self.config.scope.is_whole() && self.catalog.awaits(id),
            Gist::Response { .. } | Gist::Request { .. } | Gist::Notification { .. } | Gist::Unreadable => false,
        }
    }

    /// Gives the host its page, or says why it gets none.
    pub(in crate::gate) fn offer(&mut self, now: Now, page: Result<(Line, usize), Unfit>, out: &mut Vec<Effect>) {
        match page {
            Ok((line, 0)) => out.push(Effect::Relay(Passing::ToHost(line))),
            Ok((line, hidden)) => {
                let what = "left tools outside the scope out of the list that the host asked for";
                let entry = self.entry(now, Kind::Tools).with("what", what).with("hidden", hidden);
                self.record(entry, out);
                out.push(Effect::Answer(line));
            }
            Err(Unfit { id }) => {
                let what =
                    "the server's list of tools is too long, or not canonical JSON, so it cannot be cut to the scope";
                let entry = self.entry(now, Kind::Fault).with("what", what);
                self.record(entry, out);
                out.push(Effect::Answer(reply::error(Some(&id), INTERNAL, what)));
            }
        }
    }
}

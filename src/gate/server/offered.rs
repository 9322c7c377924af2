//! The list of tools that the host gets if a scope hides some: a page is cut after it was read. Reads no page itself.

use crate::audit::record::Kind;
use crate::gate::Gate;
use crate::gate::data::effect::{Effect, Passing};
use crate::gate::server::described::Visibility;
use crate::gate::server::pages::Whole;
use crate::mcp::tool;
use crate::wire::digest::Digest;
use crate::wire::id::Id;
use crate::wire::message::Gist;
use crate::wire::reply::{self, INTERNAL};

impl Gate {
    /// Whether the host gets a line of the server only after tools were cut out of it: a page of `tools/list`.
    pub(in crate::gate) fn cuts(&self, gist: &Gist) -> bool {
        match gist {
            Gist::Response { id, failed: false } => !self.config.scope.is_whole() && self.catalog.awaits(id),
            Gist::Response { .. } | Gist::Request { .. } | Gist::Notification { .. } | Gist::Unreadable => false,
        }
    }

    /// Gives the host its page without the tools outside the scope, or says under its id why it gets none.
    pub(in crate::gate) fn offer(&mut self, page: Result<(Id, Whole), Id>) {
        let (id, whole) = match page {
            Ok((id, whole)) => (id, Some(whole)),
            Err(id) => (id, None),
        };
        let keep: Vec<bool> =
            whole.iter().flat_map(|whole| &whole.tools).map(|tool| self.is_offered(tool.as_ref())).collect();
        let hidden = keep.iter().filter(|keep| !**keep).count();
        match whole.as_ref().and_then(|whole| tool::cut_page(&whole.line, &keep)) {
            Some(line) if hidden == 0 => self.out.push(Effect::Relay(Passing::ToHost(line))),
            Some(line) => {
                let what = "left tools outside the scope out of the list that the host asked for";
                self.out.record(self.out.entry(Kind::Tools).with("what", what).with("hidden", hidden));
                self.out.push(Effect::WriteToHost(line));
            }
            None => {
                let what =
                    "the server's list of tools is too long, or not canonical JSON, so it cannot be cut to the scope";
                self.out.record(self.out.fault(what, None));
                self.out.push(Effect::WriteToHost(reply::error(Some(&id), INTERNAL, what)));
            }
        }
    }

    /// Whether a tool as a page has it is in the scope. A tool that is not known with exactly this definition is not.
    fn is_offered(&self, tool: Option<&(String, Digest)>) -> bool {
        let Some((name, digest)) = tool else { return false };
        self.catalog.seen(name).is_some_and(|known| known.digest == *digest && known.visibility == Visibility::Listed)
    }
}

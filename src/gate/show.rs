//! What passes: counted for the log, and shown on the consoles' Activity screen.

use crate::audit::record::Kind;
use crate::behavior::identity::Identity;
use crate::behavior::request::of_request;
use crate::behavior::taxonomy::Mutability;
use crate::gate::Gate;
use crate::gate::call::entries;
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::state::passed::Form;
use crate::mcp::request::{Standing, standing};
use crate::wire::call::{Call, Origin};
use crate::wire::line::Line;

impl Gate {
    /// Counts a line that passes, for the log, and shows it.
    pub(in crate::gate) fn passes(&mut self, (from, form, method): (Origin, Form, &str), line: &Line) {
        let payload = (form == Form::Notification).then(|| line.digest().to_string());
        let bytes = line.content().len() as u64;
        let at = self.log.passed.take(self.out.now.mono, (from, form, method), bytes, payload);
        self.out.wake_by(at);
        let direction = match from {
            Origin::Host => Direction::ToServer,
            Origin::Server | Origin::Answer => Direction::ToHost,
        };
        let (kind, what) = match form {
            Form::Request => (ActivityKind::Request, method),
            Form::Notification => (ActivityKind::Notification, method),
            Form::Response => (ActivityKind::Response, "response"),
            Form::Unreadable => return,
        };
        self.out.show_plain(direction, kind, what, bytes);
    }

    /// Records a request that passes and does more than read, or whose content a scope gives: a counter alone would not say what
    /// it was.
    pub(in crate::gate) fn record_single(&mut self, request: &Call) {
        let Some(method) = request.method() else { return };
        let identities = request.questions().map(|(method, params)| {
            let params = serde_json::from_str(params).unwrap_or_default();
            of_request(method, &params).identity
        });
        let is_given = !self.config.scope.is_whole()
            && request.origin() == Origin::Host
            && standing(method, self.context().revision_of(request)) == Standing::Contents;
        let is_shown = |identity: &Identity| is_given || identity.mutability != Mutability::Pure;
        let Some(identity) = identities.filter(is_shown).last() else { return };
        if !self.log.passed.takes_single() {
            return;
        }
        let mut entry = self.out.entry(Kind::Passed);
        entry.tool = Some(method.into());
        entry.digest = Some(request.digest());
        entry.identity = Some(identity);
        entries::add_request(&mut entry, request);
        let mut entry = entry.with("bytes", request.line().content().len());
        entries::add_provenance(&mut entry, request);
        self.out.record(entry);
    }

    /// Records how many lines have passed since the last such record.
    pub(in crate::gate) fn record_passed(&mut self) {
        if let Some(rows) = self.log.passed.drain() {
            self.out.record(self.out.entry(Kind::Passed).with("passed", rows));
        }
    }
}

//! What changes while calls wait: the policy, and what the operator has granted. Calls not decided yet are judged anew.

use std::sync::Arc;

use serde_json::json;

use crate::audit::record::Kind;
use crate::gate::Gate;
use crate::gate::call::held::{Held, Stage, Verdict};
use crate::gate::call::judged::{self, BeforeTool, JudgeInput, Seen};
use crate::gate::data::effect::Effect;
use crate::gate::data::event::{ConsoleId, Now};
use crate::gate::data::terms::GrantTerms;
use crate::gate::server::catalog::Known;
use crate::policy::rule::{Decision, Policy};
use crate::wire::digest::Digest;

impl Gate {
    /// What calls are judged by.
    pub(in crate::gate) fn judge_input(&self) -> JudgeInput<'_> {
        JudgeInput {
            server: &self.config.server,
            before_tool: &self.before_tool,
            grants: &self.grants,
            approvers: &self.config.approvers,
            expected: self.config.expected.as_ref(),
            server_change: self.catalog.server_change().map(|change| &**change),
            roots: &self.roots,
            recent: &self.recent,
            latest: self.latest,
        }
    }

    /// Another policy stands: it is recorded, and holds for every call that is not decided yet.
    pub(in crate::gate) fn on_policy_changed(&mut self, now: Now, policy: Arc<Policy>, out: &mut Vec<Effect>) {
        self.register(BeforeTool::Policy(policy));
        let mut entry = self.entry(now, Kind::Policy).with("what", "the policy was read again");
        if let Some(banner) = &self.policy_banner {
            entry = entry.with("banner", banner.as_str());
        }
        self.record(entry, out);
        self.rejudge(now, out);
    }

    /// An operator has accepted a changed file: recorded, and kept by the shell, which reads it again then.
    pub(in crate::gate) fn on_policy_accepted(
        &mut self,
        now: Now,
        file: String,
        digest: Digest,
        who: &str,
        console: ConsoleId,
        out: &mut Vec<Effect>,
    ) {
        let waits = match &self.before_tool {
            BeforeTool::Policy(policy) => policy.pending.iter().any(|one| one.file == file && one.digest == digest),
            BeforeTool::Unregistered => false,
        };
        if !waits {
            let why = "the policy has changed since it was shown, or waits no longer; look at it again".to_owned();
            return out.push(Effect::Refuse { console, ticket: String::new(), why });
        }
        let entry = self.entry(now, Kind::Policy).with("what", "an operator accepted the changed policy");
        let entry = entry.with("operator", who).with("file", file.as_str()).with("text", digest.to_string());
        self.record(entry, out);
        out.push(Effect::AcceptPolicy { file, digest, console });
    }

    /// Judges anew what waits for the operator, where that comes out otherwise than before.
    pub(in crate::gate) fn rejudge(&mut self, now: Now, out: &mut Vec<Effect>) {
        for number in self.held.numbers(|held| matches!(held.stage, Stage::Asking { .. })) {
            let Some((held, judged)) = self.held.get(number).and_then(|held| Some((held, held.judged.as_ref()?)))
            else {
                continue;
            };
            let described = match (self.catalog.find(held.call.name()), &judged.described) {
                (Known::Yes(known), _) => Some(known),
                (Known::No | Known::Ask, None) => None,
                // It changed, and nobody knows yet what it is: nothing that stood for it before may let it pass.
                (Known::No | Known::Ask, Some(_)) => {
                    self.judge_as_it_is(now, number, out);
                    continue;
                }
            };
            let anew = judged::judge(now, &held.call, described.clone(), self.judge_input(), Seen::of(held));
            let stays = anew.ruling.decision == Decision::Ask
                || held.original.is_some() && anew.ruling.decision == Decision::Allow;
            if stays && anew.ruling == judged.ruling && held.look.covers(&anew.wanted) {
                continue;
            }
            self.judge(now, number, described, out);
        }
    }

    /// Judges a call by its tool as it is described now: since it was judged last the server may have changed it. Asks the
    /// server first where that is not known.
    pub(in crate::gate) fn judge_as_it_is(&mut self, now: Now, number: u64, out: &mut Vec<Effect>) {
        let Some(held) = self.held.get(number) else {
            return;
        };
        let was_described = held.judged.as_ref().is_some_and(|judged| judged.described.is_some());
        match self.catalog.find(held.call.name()) {
            Known::Yes(known) => self.judge(now, number, Some(known), out),
            Known::No | Known::Ask if was_described => {
                self.held.set_stage(number, Stage::Describing);
                self.ask_server(now, number, out);
            }
            Known::No | Known::Ask => self.judge(now, number, None, out),
        }
    }

    /// Remembers what was granted with an approval that is on the disk.
    pub(in crate::gate) fn grant(
        &mut self,
        now: Now,
        held: &Held,
        verdict: &Verdict,
        terms: &GrantTerms,
        out: &mut Vec<Effect>,
    ) {
        let Some(described) = held.judged.as_ref().and_then(|judged| judged.described.as_ref()) else {
            return;
        };
        let card = self.grants.give(now, held, described.digest, &verdict.who, terms);
        let entry = self.entry(now, Kind::Policy).with("what", "an operator granted more than one call");
        self.record(entry.with("operator", verdict.who.as_ref()).with("grant", json!(card)), out);
        if let Some(until) = self.grants.next_end() {
            self.wake_by(until, out);
        }
    }

    /// An operator ends a grant.
    pub(in crate::gate) fn on_grant_ended(
        &mut self,
        now: Now,
        grant: &str,
        who: &str,
        console: ConsoleId,
        out: &mut Vec<Effect>,
    ) {
        let Some(card) = self.grants.end(grant) else {
            let why = format!("no grant {grant} stands any more");
            return out.push(Effect::Refuse { console, ticket: String::new(), why });
        };
        let entry = self.entry(now, Kind::Policy).with("what", "a grant ended").with("reason", "an operator ended it");
        self.record(entry.with("operator", who).with("grant", json!(card)), out);
    }

    /// Ends the grants whose time or calls are over, and those for a tool that is not what it was.
    pub(in crate::gate) fn prune_grants(&mut self, now: Now, out: &mut Vec<Effect>) {
        if self.grants.is_empty() {
            return;
        }
        let catalog = &self.catalog;
        let ended = self.grants.prune(now, |tool| match catalog.find(tool) {
            Known::Yes(described) => Some(described.digest),
            Known::No | Known::Ask => None,
        });
        for (card, why) in ended {
            let entry = self.entry(now, Kind::Policy).with("what", "a grant ended").with("reason", why);
            self.record(entry.with("grant", json!(card)), out);
        }
        if let Some(until) = self.grants.next_end() {
            self.wake_by(until, out);
        }
    }
}

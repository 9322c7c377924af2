//! The policy changes while calls wait, or an operator accepts a changed file.

use std::sync::Arc;

use crate::audit::record::Kind;
use crate::gate::Gate;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Operator;
use crate::policy::rule::Policy;
use crate::wire::digest::Digest;

impl Gate {
    /// A new policy is in force: this is recorded, and the policy rules on every call that is not decided yet.
    pub(in crate::gate) fn on_policy_changed(&mut self, policy: Arc<Policy>) {
        self.out.heading.policy = policy.digest;
        self.rules.replace(policy);
        let mut entry = self.out.entry(Kind::Policy).with("what", "the policy was read again");
        entry.add("banner", self.rules.policy.banner.as_deref());
        self.out.record(entry);
        self.rejudge();
        self.revoke_approvals(None);
    }

    /// An operator has accepted a changed file: this is recorded; the shell keeps the file and reads the policy again.
    pub(in crate::gate) fn on_policy_accepted(&mut self, file: String, digest: Digest, operator: &Operator) {
        let console = operator.console;
        let pending = &self.rules.policy.pending;
        if !pending.iter().any(|one| one.file == file && one.digest == digest) {
            let why = "the policy has changed since it was shown, or no longer waits; look at it again".to_owned();
            return self.out.push(Effect::Refuse { console, ticket: String::new(), why });
        }
        let entry = self.out.entry(Kind::Policy).with("what", "an operator accepted the changed policy");
        self.out.record(
            entry.with("operator", &*operator.who).with("file", file.as_str()).with("text", digest.to_string()),
        );
        self.out.push(Effect::AcceptPolicy { file, digest, console });
    }
}

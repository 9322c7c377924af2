//! A rule made from a call of the log: the offers, and how far the operator has come. The call itself is over.

use super::rule::RuleStage;
use crate::policy::maker::{Origin, Proposal, Scope, Title, id_for, proposals};
use crate::policy::past::{Ended, PastCall, touches_obscured};
use crate::policy::rule::Decision;
use crate::policy::under::Roots;

/// How long an offered allow lasts: what is forgotten does not stay open.
const DAYS: i64 = 30;

/// The open panel.
#[derive(Clone, Debug)]
pub struct PastMaker {
    pub ticket: String,
    pub offers: Vec<PastOffer>,
    pub at: usize,
    /// The first row on screen.
    pub top: usize,
    pub stage: RuleStage,
}

/// One rule that could be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastOffer {
    /// What it covers, in our words; names in it are foreign text.
    pub label: String,
    /// The text as it will stand in the policy file.
    pub toml: String,
    /// What the operator should know before it is written.
    pub warnings: Vec<String>,
}

impl PastMaker {
    /// The rules that this call could become, the narrowest first, then "never again". `now` is milliseconds since 1970.
    ///
    /// # Errors
    /// Why there is none.
    pub fn of(call: &PastCall, home: Option<&str>, now: i64) -> Result<Self, String> {
        let roots = Roots { home: home.map(str::to_owned), ..Roots::default() };
        let origin =
            Origin { server: &call.server, tool: &call.tool, arguments: &call.arguments, behavior: &call.behavior };
        let made = proposals(&origin, &roots).map_err(|why| why.to_string())?;
        // A secret that the log does not hold cannot be written into a rule.
        let told: Vec<Proposal> = made.into_iter().filter(|one| !touches_obscured(&one.rule, call)).collect();
        let mut offers: Vec<PastOffer> = told.iter().map(|one| offer(one, Decision::Allow, call, now)).collect();
        let whole = told.iter().find(|one| one.scope == Scope::ThisTool);
        offers.extend(whole.map(|one| offer(one, Decision::Deny, call, now)));
        if offers.is_empty() {
            return Err("the log does not hold what a rule would have to say".to_owned());
        }
        Ok(Self { ticket: call.ticket.clone(), offers, at: 0, top: 0, stage: RuleStage::Choosing })
    }

    /// The offer on show.
    pub fn offer(&self) -> Option<&PastOffer> {
        self.offers.get(self.at)
    }
}

fn offer(proposal: &Proposal, decision: Decision, call: &PastCall, now: i64) -> PastOffer {
    // The moment makes the name the file's only one; that it is, is checked when it is written.
    let id = format!("{}-{}", id_for(&call.tool, |_| false), now / 1000);
    let note = format!("made in the console from {}", call.ticket);
    let expires = (decision == Decision::Allow).then_some(now + DAYS * 86_400_000);
    let mut warnings = Vec::new();
    if decision == Decision::Allow {
        warnings = proposal.warnings();
        if call.ended == Ended::Refused {
            warnings.push("this call was denied then; the rule lets the next one like it pass unseen".to_owned());
        }
        if call.ruling != Decision::Allow
            && let Some(rule) = &call.rule
        {
            let word = if call.ruling == Decision::Deny { "denied" } else { "asked for" };
            warnings.push(format!("rule {rule} {word} it, and no allow loosens that: see `rules except`"));
        }
    }
    PastOffer {
        label: format!("{} {}", decision.word(), proposal.scope.says()),
        toml: proposal.text(&Title { id: &id, decision, expires, note: Some(&note) }),
        warnings,
    }
}

//! The rules as data: what a policy file says once it is read. Owns no judgement.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::glob::{Glob, GlobError};
use super::result::ResultTest;
use super::terms::ApprovalTerms;
use super::under::Roots;
use super::when::{About, Predicate};
use crate::behavior::{Action, Identity, Mutability, OutputDomain};
use crate::mcp::request;
use crate::signing::{Level, Needs, Required, grade::Danger, standing::LifeSign};
use crate::wire::{Digest, words::words};

words! {
    /// What a rule, a default or a policy says of a call. Ordered: the strictest of several is the maximum.
    #[derive(Default)]
    Decision {
        Allow = "allow",
        #[default]
        Ask = "ask",
        Deny = "deny",
    }
}

words! {
    /// `[defaults] likely`: what applies to a call of a tool that reads by its definition, where that is not proven. Ordered:
    /// the strictest of several is the maximum.
    Likely {
        Allow = "allow",
        /// The card offers to confirm the definition as PURE; from then on it is proven.
        AskOnce = "ask-once",
        /// Every call asks, until the definition is pinned.
        Ask = "ask",
    }
}

impl Likely {
    pub fn decision(self) -> Decision {
        match self {
            Self::Allow => Decision::Allow,
            Self::AskOnce | Self::Ask => Decision::Ask,
        }
    }
}

words! {
    /// `[defaults] new`: what applies to a PURE call with something new: a key, a place, a host. Ordered by strictness.
    NewDefault {
        /// The card offers to remember what is new; from then on it is not.
        AskOnce = "ask-once",
        /// Every such call asks, and nothing is remembered.
        Ask = "ask",
        Deny = "deny",
    }
}

words! {
    /// `[defaults] first_use`: what applies to a proven tool that no operator has answered for. Ordered by strictness.
    FirstUse {
        Allow = "allow",
        /// Its first call asks, unless the operator has agreed to the tool on its server's page.
        AskOnce = "ask-once",
    }
}

/// `[defaults]`: what applies where no rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defaults {
    pub pure: Decision,
    pub likely: Likely,
    pub first_use: FirstUse,
    pub new: NewDefault,
    /// Never `Allow`.
    pub mutates: Decision,
    pub hazard: Decision,
}

/// `[defaults]` of one file: what it leaves out is left to the other layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    pub pure: Option<Decision>,
    pub likely: Option<Likely>,
    pub first_use: Option<FirstUse>,
    pub new: Option<NewDefault>,
    pub mutates: Option<Decision>,
    pub hazard: Option<Decision>,
    /// `[operator] signed`.
    pub signed: Option<Required>,
    /// `[desk] required`.
    pub life: Option<LifeSign>,
    /// `[desk] team_may`.
    pub team: Option<TeamMay>,
}

words! {
    /// `[desk] team_may`: what is taken over from a team's set. Ordered by strictness.
    #[derive(Default)]
    TeamMay {
        #[default]
        Loosen = "loosen",
        /// Nothing that lets more calls pass: no rule that allows, and nothing that was agreed to.
        Tighten = "tighten",
    }
}

/// What a rule may do to the ruling that there would be without it. Ordered by strictness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleMay {
    #[default]
    Loosen,
    /// Only make it stricter: the rule is not accepted yet, or it is of a team that may do no more. No default that denies gives way to it.
    Tighten,
}

words! {
    #[derive(Default)]
    Layer {
        /// The machine's, written by its administrator.
        System = "system",
        #[default]
        User = "user",
        /// The folder's that the server runs in: it may only tighten until the operator has accepted it.
        Project = "project",
        /// Named by `--policy` for one wrapper.
        Run = "run",
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    pub id: String,
    pub decision: Decision,
    /// Globs over the server's name; empty means any.
    pub server: Vec<Glob>,
    /// Globs over the request's method; empty means `tools/call`.
    pub method: Vec<Glob>,
    /// Globs over the tool's name; empty means any.
    pub tool: Vec<ToolGlob>,
    pub mutability: Option<Mutability>,
    /// Any of these; empty means any.
    pub action: Vec<Action>,
    /// Any of these; empty means any.
    pub output_domain: Vec<OutputDomain>,
    /// Any of these; empty means any.
    pub identity: Vec<Identity>,
    /// Globs over the capability tags; empty means any.
    pub capability: Vec<Glob>,
    /// All of these. What is undecided holds for an ask or a deny, and does not for an allow.
    pub when: Vec<Predicate>,
    /// An ask or a deny that does not apply where one of these holds for certain.
    pub unless: Vec<Predicate>,
    /// Which answers it is about; such a rule says nothing of calls.
    pub result: Option<ResultTest>,
    /// Of a rule that asks: what an approval needs.
    pub terms: ApprovalTerms,
    /// The first moment when it no longer applies, in milliseconds since 1970, UTC.
    pub expires: Option<i64>,
    pub note: Option<String>,
    /// Whose set it was taken over from, by the name that they sign as; `None` for the operator's own.
    pub team: Option<String>,
    /// Line in its file, from 1.
    pub line: usize,
    pub layer: Layer,
    /// By the state of its file, and by `[desk] team_may`.
    pub may: RuleMay,
    /// Its file; `None` before it is pooled with others.
    pub file: Option<Arc<str>>,
}

impl Rule {
    /// What it matches: each selector by its key in the file, and each condition in words. Empty means every call.
    pub fn selects(&self) -> Vec<(&'static str, String)> {
        fn list<T: ToString>(all: impl IntoIterator<Item = T>, between: &str) -> String {
            all.into_iter().map(|one| one.to_string()).collect::<Vec<_>>().join(between)
        }
        let words = [
            ("server", list(&self.server, "|")),
            ("method", list(&self.method, "|")),
            ("tool", list(&self.tool, "|")),
            ("mutability", self.mutability.map(|one| one.word().to_owned()).unwrap_or_default()),
            ("action", list(self.action.iter().map(|one| one.word()), "|")),
            ("output_domain", list(self.output_domain.iter().map(|one| one.word()), "|")),
            ("identity", list(&self.identity, " or ")),
            ("capability", list(&self.capability, "|")),
            ("when", list(self.when.iter().map(Predicate::words), ", and ")),
            ("result", self.result.as_ref().map(ResultTest::words).unwrap_or_default()),
            ("unless", list(self.unless.iter().map(Predicate::words), ", or ")),
        ];
        words.into_iter().filter(|(_, words)| !words.is_empty()).collect()
    }

    /// Whose it is by its file, if it was taken over from a team, with what it lacks here, and its note. Whoever writes the file can write
    /// any name there: what proves it is the record of taking it over.
    pub fn remark(&self) -> Option<String> {
        let lacks = match (self.may, self.decision) {
            (RuleMay::Loosen, _) | (RuleMay::Tighten, Decision::Deny) => "",
            (RuleMay::Tighten, Decision::Ask) => ", lifts no default that denies",
            (RuleMay::Tighten, Decision::Allow) => ", suspended: [desk] team_may lets a team only tighten",
        };
        let team = self.team.as_ref().map(|team| format!("its file says from {team}{lacks}"));
        let words: Vec<String> = team.into_iter().chain(self.note.clone()).collect();
        (!words.is_empty()).then(|| words.join(": "))
    }

    /// Its decision, as its file says it.
    pub fn word(&self) -> &'static str {
        self.result.as_ref().map_or_else(|| self.decision.word(), |result| result.act.word())
    }

    /// Whether it is about requests of a method; `None` is `tools/call`.
    pub fn is_about(&self, method: Option<&str>) -> bool {
        match method {
            None if self.method.is_empty() => true,
            method => self.method.iter().any(|glob| glob.matches(method.unwrap_or(request::CALL))),
        }
    }

    /// This, with no more than it may do here.
    #[must_use]
    pub fn that_may(self, may: RuleMay) -> Self {
        Self { may: self.may.max(may), ..self }
    }

    pub fn counts(&self) -> bool {
        self.when.iter().chain(&self.unless).any(|one| matches!(one.about, About::Rate(_)))
    }

    /// Whether a request that it is about must be held: it could be asked about, denied or counted.
    pub fn holds_requests(&self) -> bool {
        self.decision > Decision::Allow || self.counts()
    }

    pub fn selects_by_behavior(&self) -> bool {
        let by_effect = |one: &Predicate| matches!(one.about, About::Effect(_));
        self.mutability.is_some()
            || !(self.action.is_empty() && self.output_domain.is_empty())
            || !(self.identity.is_empty() && self.capability.is_empty())
            || self.when.iter().any(by_effect)
    }

    /// Whether another rule is the same but for its line, file and note.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let Self { line, layer, may, file, note, .. } = self.clone();
        *self == Self { line, layer, may, file, note, ..other.clone() }
    }
}

/// A glob over tools: a name, or the host's `mcp__SERVER__NAME`, which names the server too.
///
/// The server ends at the first `__`: so an alias for one server never reaches another whose name begins alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolGlob {
    server: Option<Glob>,
    tool: Option<Glob>,
    text: String,
}

impl ToolGlob {
    pub fn new(text: &str) -> Result<Self, GlobError> {
        let (server, tool) = match text.strip_prefix("mcp__") {
            None => (None, Some(text)),
            Some(alias) => match alias.split_once("__") {
                None => (Some(alias), None),
                Some((server, tool)) => (Some(server), Some(tool)),
            },
        };
        Ok(Self {
            server: server.map(Glob::new).transpose()?,
            tool: tool.map(Glob::new).transpose()?,
            text: text.to_owned(),
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn server(&self) -> Option<&Glob> {
        self.server.as_ref()
    }

    /// Whether it means this tool of this server by its very name.
    pub fn is(&self, server: &str, tool: &str) -> bool {
        self.tool.as_ref().is_some_and(Glob::is_exact) && self.matches(server, tool)
    }

    pub fn matches(&self, server: &str, tool: &str) -> bool {
        let fits = |glob: &Option<Glob>, name| glob.as_ref().is_none_or(|glob| glob.matches(name));
        fits(&self.tool, tool) && fits(&self.server, server)
    }
}

impl fmt::Display for ToolGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Rules of all layers pooled, with the defaults; or what replaces a broken file.
#[derive(Clone, Debug)]
pub struct Policy {
    pub defaults: Defaults,
    pub given: Given,
    /// Which approvals need a signature, whatever rules say.
    pub signed: Required,
    /// Whether calls are frozen without a sign of life of the desk.
    pub life: LifeSign,
    /// `[operator] ssh_keygen`, of one file: the program that signs. It counts in the machine's policy alone.
    pub ssh_keygen: Option<String>,
    /// What protects the verdicts, by the machine's own files; whoever reads them says so.
    pub level: Level,
    /// Those about calls and other requests.
    pub rules: Vec<Rule>,
    /// Those about answers: they decide on no call.
    pub results: Vec<Rule>,
    /// Written and switched off: they decide nothing, and listings show them.
    pub disabled: Vec<Rule>,
    /// Whether allows count. `false` while the file is broken: everything that is not denied asks.
    pub allows_count: bool,
    /// Where `~` and relative paths in arguments start.
    pub roots: Roots,
    /// Digest of the text it was read from; of several, of a list of their digests.
    pub digest: Digest,
    /// Those texts, and the list of several: what the log keeps of it.
    pub texts: Vec<Arc<str>>,
    /// What the operator must know: a broken file with line and hint. `None` when all is well.
    pub banner: Option<String>,
    /// What was loosened in a file and waits for the operator.
    pub pending: Vec<Pending>,
}

impl Policy {
    pub fn all_rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().chain(&self.results)
    }

    /// Whether the approval of a call that is asked on these terms needs a signature.
    pub fn needs(&self, terms: &ApprovalTerms, danger: Danger) -> Needs {
        if terms.is_plain() { self.signed.asks(danger) } else { Needs::Signature }
    }

    pub fn asks_for_signatures(&self) -> bool {
        self.signed != Required::Never || self.rules.iter().any(|rule| !rule.terms.is_plain())
    }

    /// Whether some rule is about results.
    pub fn rules_results(&self) -> bool {
        !self.results.is_empty()
    }

    pub fn asks_about_results(&self) -> bool {
        self.results.iter().any(|rule| rule.decision == Decision::Ask)
    }

    /// Whether a rule, or the lack of a usable file, could have some request other than a call asked about, denied or counted.
    pub fn restricts_methods(&self) -> bool {
        let restricts = |rule: &Rule| rule.holds_requests() && !rule.method.is_empty();
        !self.allows_count || self.rules.iter().any(restricts)
    }
}

/// A changed file that loosens something: in force once the operator has accepted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    pub layer: Layer,
    /// Its path: foreign text, as all that follows.
    pub file: String,
    pub digest: Digest,
    /// What it loosens, a line each.
    pub loosens: Vec<String>,
    #[serde(default)]
    pub needs: Needs,
    /// The change as a unified diff, cut where it is long.
    pub diff: String,
}

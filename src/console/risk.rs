//! How much care a held call asks for: a degree with a shape, and one word for what the call does. Owns no colours.

use crate::behavior::conclude::{IS_THERE, MAY_REPLACE, STATEMENT_CHANGES};
use crate::behavior::taxonomy::{Action, Badge, Mutability, OutputDomain};
use crate::gate::call::effect_line::{PRESSES, WATCHES};
use crate::gate::data::snapshot::Snapshot;
use crate::gate::grants::{GrantArea, area, may_be_outside};
use crate::text::row::{Run, Tone};

/// The degrees, ordered: the most dangerous is the maximum. Each has a shape of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Degree {
    Reads,
    /// It probably reads.
    Likely,
    /// It only reads, but a hazard asks for a look.
    Hazard,
    /// It makes something new, or changes a part of something.
    Changes,
    /// It replaces or joins what is there, or it changes something and has a hazard.
    Replaces,
    /// It removes, runs, sends, pays, or its effect is unknown.
    Severe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Risk {
    pub degree: Degree,
    /// `▲` if there is a hazard, or evidence that contradicts itself; otherwise empty.
    pub flag: &'static str,
    pub word: &'static str,
}

/// The widest mark, in columns.
pub const WIDEST: usize = 11;

impl Risk {
    pub fn of(snapshot: &Snapshot) -> Self {
        let identity = snapshot.identity;
        let flag = if snapshot.hazards.is_empty() && !snapshot.disputed { "" } else { "▲" };
        let (degree, word) = match (identity.mutability, identity.output_domain) {
            (Mutability::Pure, _) => {
                let badge = snapshot.badge();
                let degree = match badge {
                    _ if snapshot.danger.is_some() || !flag.is_empty() => Degree::Hazard,
                    Badge::Pure => Degree::Reads,
                    Badge::Likely | Badge::Mutates => Degree::Likely,
                };
                (degree, badge.word())
            }
            (Mutability::Mutates, OutputDomain::Money) => (Degree::Severe, "MONEY"),
            (Mutability::Mutates, _) => of_action(identity.action, snapshot.danger.as_deref(), &snapshot.effect),
        };
        // A call that must be confirmed never looks like one that a single key approves.
        let confirmed = snapshot.danger.is_some() && identity.mutability == Mutability::Mutates;
        let degree = if confirmed { degree.max(Degree::Replaces) } else { degree };
        Self { degree, flag, word }
    }

    /// Shape, word and flag: `◆ DELETES`, `◈ REPLACES▲`.
    pub fn run(self) -> Run {
        let (shape, tone) = match self.degree {
            Degree::Reads => ("○", Tone::Good),
            Degree::Likely => ("◌", Tone::Ours),
            Degree::Hazard => ("◇", Tone::Warn),
            Degree::Changes => ("●", Tone::Warn),
            Degree::Replaces => ("◈", Tone::Danger),
            Degree::Severe => ("◆", Tone::Danger),
        };
        Run { text: format!("{shape} {}{}", self.word, self.flag), tone }
    }
}

const MEANS: [(&str, &str); 15] = [
    ("PURE", "only reads"),
    ("PURE?", "reads, and something in it is new; or looks like a read that you have not confirmed"),
    ("ADDS", "makes something new"),
    ("CHANGES", "changes a part of something"),
    ("MOVES", "moves or renames something"),
    ("WRITES", "makes something, and may replace what is there"),
    ("REPLACES", "replaces what is there"),
    ("MERGES", "joins one thing into another"),
    ("DELETES", "removes something"),
    ("RUNS", "runs code or commands, starts or stops something"),
    ("VIEWS", "moves what a screen shows, or watches it: starts no program"),
    ("PRESSES", "presses something on a screen, which may set off anything"),
    ("SENDS", "sends a message, an order or a notification"),
    ("MONEY", "pays, or changes orders, prices or balances"),
    ("UNKNOWN", "does something that mcp-approve cannot tell: it counts as the worst"),
];

/// What comes back, where the word of the identity does not say it by itself.
const RETURNS: [(OutputDomain, &str); 7] = [
    (OutputDomain::Ack, "only whether it worked"),
    (OutputDomain::Data, "records or figures"),
    (OutputDomain::Content, "a text, a file or media"),
    (OutputDomain::Structure, "a list, a tree, a schema"),
    (OutputDomain::Ref, "branches, tags or commits"),
    (OutputDomain::Infra, "hosts, containers, deployments"),
    (OutputDomain::Unknown, "not known"),
];

/// What the words at the top of a call's card mean: the effect, the badge, the behavioral identity, the capability.
pub fn legend(call: &Snapshot) -> Vec<(Run, String)> {
    let (risk, identity) = (Risk::of(call), call.identity);
    let means = MEANS.iter().find(|(word, _)| *word == risk.word).map_or("", |(_, means)| means);
    let keys = match call.danger {
        Some(_) => "a, then y, approves it",
        None => "a approves it",
    };
    let flag = if risk.flag.is_empty() { "" } else { "; ▲: a hazard, or evidence that disagrees" };
    let badge = match call.badge() {
        Badge::Pure => "The badge: it only reads, and that is proven.",
        Badge::Likely => "The badge: it reads by its definition, and that is not proven, or something in it is new.",
        Badge::Mutates => "The badge: it changes something, or its effect is not known.",
    };
    let returns = RETURNS.iter().find(|(domain, _)| *domain == identity.output_domain);
    let returns = returns.map(|(domain, says)| format!(" {}: {says}.", domain.word())).unwrap_or_default();
    let strong = |text: &str| Run { text: text.to_owned(), tone: Tone::Strong };
    vec![
        (risk.run(), format!("This very call, by its arguments: it {means}{flag}. {keys}.")),
        (strong(call.badge().word()), badge.to_owned()),
        (
            strong(identity.words()),
            format!("The behavioral identity: whether it changes something, what it does, what comes back.{returns}"),
        ),
        (
            strong(identity.hash()),
            "The identity's digits (SHA-256 of those words): the same for all tools that behave alike; Tools, log and \
             exports have them."
                .to_owned(),
        ),
        (
            strong("tool(…) -> …"),
            "The capability, from the server's definition: what the tool takes (Option: may be left out) and returns; i \
             shows all of it."
                .to_owned(),
        ),
    ]
}

fn of_action(action: Action, danger: Option<&str>, effect: &str) -> (Degree, &'static str) {
    let says = |why: &str| danger.is_some_and(|danger| danger.contains(why));
    match action {
        Action::Create if says(IS_THERE) => (Degree::Replaces, "WRITES"),
        Action::Create | Action::Append => (Degree::Changes, "ADDS"),
        Action::Update | Action::Read | Action::Search => (Degree::Changes, "CHANGES"),
        Action::Move => (Degree::Changes, "MOVES"),
        Action::Overwrite if says(MAY_REPLACE) => (Degree::Replaces, "WRITES"),
        // Our line says that nothing is replaced; any other danger shows by the flag.
        Action::Overwrite if danger.is_none() || effect.starts_with("creates ") => (Degree::Changes, "ADDS"),
        Action::Overwrite => (Degree::Replaces, "REPLACES"),
        Action::Merge => (Degree::Replaces, "MERGES"),
        Action::Delete => (Degree::Severe, "DELETES"),
        Action::Execute if says(STATEMENT_CHANGES) => (Degree::Severe, of_statement(effect)),
        Action::Execute if effect.starts_with(WATCHES) => (Degree::Changes, "VIEWS"),
        Action::Execute if effect.starts_with(PRESSES) => (Degree::Changes, "PRESSES"),
        // Its statement only reads or adds.
        Action::Execute if danger.is_none() => (Degree::Changes, of_statement(effect)),
        Action::Execute => (Degree::Severe, "RUNS"),
        Action::Send => (Degree::Severe, "SENDS"),
        Action::Unknown => (Degree::Severe, "UNKNOWN"),
    }
}

/// The word for what one statement does: our own line on it begins with its verb.
fn of_statement(effect: &str) -> &'static str {
    match effect.split(' ').next().unwrap_or_default() {
        "INSERT" | "CREATE" => "ADDS",
        "UPDATE" | "ALTER" => "CHANGES",
        "DELETE" | "DROP" | "TRUNCATE" => "DELETES",
        "MERGE" => "MERGES",
        _ => "RUNS",
    }
}

/// Why nothing more than this call can be granted, judged by the card; `None` where it can.
pub fn no_grant(snapshot: &Snapshot) -> Option<&'static str> {
    match area(&snapshot.hazards) {
        Some(GrantArea::Declared) => {}
        Some(GrantArea::Outside) if may_be_outside(snapshot.identity, snapshot.disputed) => {}
        Some(GrantArea::Outside) => {
            return Some("outside of the declared folders such a call is asked each time: no approval for a while");
        }
        None => return Some("a call with a hazard is asked each time: no approval for a while"),
    }
    if snapshot.ruling.rule.is_some() {
        return Some("a rule asks for each such call: no approval for a while; give that rule an `unless`");
    }
    snapshot.signature.is_none().then_some("the server has not described this tool: no approval for a while")
}

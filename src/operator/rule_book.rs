//! The policy files as they are now: their rules with warnings, the policy that is tried, and changes of the operator's own
//! file as `rules` makes them: locked, checked, written whole, with an undo. Every error is a sentence for the screen.

use std::path::{Path, PathBuf};

use crate::audit::{Entry, Kind};
use crate::home::change::{By, ChangeError, RuleFile};
use crate::home::layers::{Keeps, Layers};
use crate::home::policy_file::{self, Accepted, PolicyPlace};
use crate::home::{agreed, config, places::Places, user};
use crate::operator::found::{RuleBook, RuleLine};
use crate::operator::tried::Which;
use crate::policy::edit::{self, Switch};
use crate::policy::layers::where_teams_may;
use crate::policy::rule::{Layer, TeamMay};
use crate::policy::{Decision, Pending, Policy, Rule, lint::lint, maker::id_for, parse};
use crate::signing::{change::Proof, statement::Evidence};

/// Where `config.toml` is broken, only the operator's own policy. `now` is milliseconds since 1970, UTC.
pub(super) fn read(places: &Places, now: i64) -> RuleBook {
    match config::policies(places) {
        Ok(files) => {
            let usual = files.first().cloned().unwrap_or_else(|| PolicyPlace::own(places));
            let in_force = Layers::of(places, None, &usual).load(Keeps::Nothing);
            let mut book = of_files(&files, in_force.given.team_may(), now);
            book.broken = book.broken.map(|broken| format!("{broken}. {}", still(&in_force)));
            RuleBook { pending: in_force.pending, ..book }
        }
        Err(error) => {
            let book = of_files(&[PolicyPlace::own(places)], agreed::team_may(places), now);
            RuleBook { broken: Some(error.to_string()), ..book }
        }
    }
}

/// Which rules decide while a file is broken.
fn still(in_force: &Policy) -> String {
    let stricter = in_force.rules.iter().filter(|rule| rule.decision > Decision::Allow);
    let ids: Vec<&str> = stricter.map(|rule| rule.id.as_str()).collect();
    match ids.as_slice() {
        [] => "No rule decides now: what is not proven to read waits for you".to_owned(),
        ids => format!("Still decide, as they were last: {}; no allow rule counts", ids.join(", ")),
    }
}

fn of_files(places: &[PolicyPlace], team_may: TeamMay, now: i64) -> RuleBook {
    let mut book = RuleBook {
        files: Vec::new(),
        rules: Vec::new(),
        defaults: parse::built_in().defaults,
        broken: None,
        built_in: places.iter().all(|place| !place.path().exists()),
        pending: Vec::new(),
    };
    for (at, place) in places.iter().enumerate() {
        book.files.push(place.path().to_path_buf());
        match policy_file::load(place) {
            Ok(policy) => {
                if at == 0 {
                    book.defaults = policy.defaults;
                }
                book.rules.extend(lines(&where_teams_may(team_may, policy), at, now));
            }
            Err(broken) => book.broken = Some(book.broken.take().unwrap_or_else(|| broken.banner())),
        }
    }
    book
}

fn lines(policy: &Policy, file: usize, now: i64) -> Vec<RuleLine> {
    let warnings = lint(policy, now);
    let line = |(rule, disabled): (&Rule, bool)| RuleLine {
        id: rule.id.clone(),
        decision: rule.decision,
        result: rule.result.as_ref().map(|result| result.act),
        disabled,
        file,
        line: rule.line,
        selects: rule.selects().into_iter().chain(rule.terms.words().map(|words| ("approved by", words))).collect(),
        expires: rule.expires,
        note: rule.remark(),
        warnings: warnings.iter().filter(|warning| warning.rule == rule.id).cloned().collect(),
    };
    all(policy).map(line).collect()
}

/// Every rule that is written, and whether it is switched off.
pub fn all(policy: &Policy) -> impl Iterator<Item = (&Rule, bool)> {
    policy.all_rules().map(|rule| (rule, false)).chain(policy.disabled.iter().map(|rule| (rule, true)))
}

/// The policy that is tried on past calls: the files as they are written, or with one changed file as if accepted.
pub fn tried(places: &Places, which: &Which) -> Result<Policy, String> {
    match which {
        Which::Written => Layers::of(places, None, &usual(places)).as_written().map_err(|broken| broken.banner()),
        Which::Accepted { layer, file, digest, .. } => {
            let file = Path::new(file);
            layers(places, *layer, file).if_accepted(file, *digest).map_err(|error| error.to_string())
        }
    }
}

/// The policy in force before a change that waits is accepted; `None` where all of it is tried as it is written.
pub fn before(places: &Places, which: &Which) -> Option<Policy> {
    let Which::Accepted { layer, file, .. } = which else { return None };
    Some(layers(places, *layer, Path::new(file)).load(Keeps::Nothing))
}

/// The operator's policy that counts for every server.
fn usual(places: &Places) -> PolicyPlace {
    let first = config::policies(places).ok().and_then(|all| all.into_iter().next());
    first.unwrap_or_else(|| PolicyPlace::own(places))
}

/// The files among which this one is read at this layer.
fn layers(places: &Places, layer: Layer, file: &Path) -> Layers {
    let folder = if layer == Layer::Project { file.parent() } else { None };
    let named = match layer {
        Layer::Run => PolicyPlace::Named(file.to_path_buf()),
        Layer::System | Layer::User | Layer::Project => usual(places),
    };
    Layers::of(places, folder, &named)
}

/// Accepts a change that waits, without a server to send it to, and records who did.
fn accept(places: &Places, one: &Pending, signed: Option<&Evidence>, now: i64) -> Result<String, String> {
    let file = Path::new(&one.file);
    let accepted = layers(places, one.layer, file).accept(file, one.digest, signed, now);
    record_acceptance(one, places, now, "in the console", &accepted.map_err(|error| error.to_string())?);
    Ok(format!("Accepted: {}.", one.file))
}

/// Records who accepted what, and where. An acceptance that cannot be logged still counts: without a log no call runs anyway.
pub fn record_acceptance(one: &Pending, places: &Places, now: i64, place: &str, proof: &Proof) {
    let mut entry = Entry::new(now, Kind::Policy, &"mcp-approve".into(), &"rules accept".into());
    entry.policy = Some(one.digest);
    let entry = entry
        .with("what", "an operator accepted the changed policy")
        .with("operator", format!("{} ({place})", user::name()))
        .with("file", one.file.as_str())
        .with("text", one.digest.to_string())
        .with("loosens", one.loosens.clone())
        .proven(proof);
    if let Err(error) = agreed::record(places, entry) {
        tracing::warn!(%error, "an acceptance was not recorded");
    }
}

/// The warning of a rule for calls that one careless key must not approve.
pub const DANGEROUS: &str = "calls like this one are dangerous, and the rule lets the next one run unasked";

/// A condition to be added to the `unless` of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Except {
    pub rule: String,
    /// As it will be there: `{ arg = "path", under = "~/scratch" }`.
    pub condition: String,
}

/// A change of a rule in the operator's own file; or of a file that waits.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleChange {
    Remove { id: String, file: PathBuf },
    Replace { id: String, file: PathBuf, text: String },
    Switch { id: String, file: PathBuf, to: Switch },
    Accept(Pending),
    Undo,
}

/// Adds a rule, excepts its calls from one that asks for them, and returns the file. What the operator has read on the
/// panel is accepted with it, unless something else in the file still waits.
pub fn add(places: &Places, rule: &str, except: Option<&Except>, now: i64) -> Result<String, String> {
    let place = PolicyPlace::own(places);
    let file = file(&place, places);
    let text = file.text().map_err(|error| said(&error.into()))?.unwrap_or_default();
    let rule = &with_its_own_name(&text, rule);
    let what = format!("added rule {}", edit::ids(rule).join(", "));
    let change = || match except {
        None => file.change(&what, now, |text| edit::add(text, rule)),
        Some(Except { rule: from, condition }) => {
            let what = format!("{what}, excepted from rule {from}");
            file.change(&what, now, |text| edit::add(&edit::except(text, from, condition)?, rule))
        }
    };
    Accepted::of(places).with(place.path(), change).map_err(|error| said(&error))?;
    Ok(place.path().display().to_string())
}

/// The rule, under a name that the file does not have yet.
fn with_its_own_name(text: &str, rule: &str) -> String {
    let taken = edit::ids(text);
    let ids = edit::ids(rule);
    let [id] = ids.as_slice() else { return rule.to_owned() };
    let free = id_for(id, |id| taken.iter().any(|other| other == id));
    rule.replacen(&format!("id = \"{id}\""), &format!("id = \"{free}\""), 1)
}

pub fn text(places: &Places, id: &str) -> Result<String, String> {
    let text = file(&PolicyPlace::own(places), places).text().map_err(|error| said(&error.into()))?;
    edit::rule(&text.unwrap_or_default(), id).map_err(|error| error.to_string())
}

/// What only tightens holds at once; what loosens waits to be accepted, so a forged note of an undo opens nothing.
pub fn change(places: &Places, wanted: &RuleChange, signed: Option<&Evidence>, now: i64) -> Result<String, String> {
    let place = PolicyPlace::own(places);
    let file = file(&place, places);
    let done = match wanted {
        RuleChange::Accept(pending) => return accept(places, pending, signed, now),
        RuleChange::Remove { file: other, .. }
        | RuleChange::Replace { file: other, .. }
        | RuleChange::Switch { file: other, .. }
            if other != place.path() =>
        {
            return Err(format!("this rule is not in your own policy file; change it in {}", other.display()));
        }
        RuleChange::Remove { id, .. } => {
            let done = file.change(&format!("removed rule {id}"), now, |text| Ok(edit::remove(text, id)?.0));
            done.map(|_| format!("Removed rule {id}; u takes that back."))
        }
        RuleChange::Replace { id, text: rule, .. } => {
            let done = file.change(&format!("changed rule {id}"), now, |text| edit::replace(text, id, rule));
            done.map(|_| format!("Changed rule {id}; u takes that back."))
        }
        RuleChange::Switch { id, to, .. } => {
            let word = to.word();
            let done = file.change(&format!("switched rule {id} {word}"), now, |text| edit::switch(text, id, *to));
            done.map(|_| format!("Rule {id} is {word} now; u takes that back."))
        }
        RuleChange::Undo => file.undo(now).map(|what| format!("Taken back: {what}.")),
    }
    .map_err(|error| said(&error))?;
    let policy = Layers::of(places, None, &place).load(Keeps::Copies);
    let waits = policy.pending.iter().any(|one| Path::new(&one.file) == place.path());
    Ok(if waits { done + " What it newly allows waits here until you accept it." } else { done })
}

fn file<'p>(place: &'p PolicyPlace, places: &'p Places) -> RuleFile<'p> {
    RuleFile { place, places, by: By::Console }
}

fn said(error: &ChangeError) -> String {
    format!("{error}; {}", error.hint())
}

//! What a set would change of the operator's rules and roles, one step for each: added, changed, or taken back by its author. And how
//! the steps that were chosen are made: rules by the one way that changes a policy, roles in `config.toml`, each with its record.

use std::fs;
use std::io::ErrorKind;

use serde_json::Value;

use crate::audit::{Entry, Kind};
use crate::home::agreed::{record, record_if_begun};
use crate::home::change::{ChangeError, Drafted, RuleFile, lock};
use crate::home::config::{CarriedRole, roles_of, with_role, written_roles};
use crate::home::layers::{Keeps, Layers, diff};
use crate::home::places::Places;
use crate::home::policy_file::{self, Why};
use crate::home::replace::replace;
use crate::home::set::Set;
use crate::home::user;
use crate::policy::edit::{self, EditError};
use crate::policy::parse::BUILT_IN;
use crate::policy::role::Role;
use crate::policy::rule::TeamMay;
use crate::policy::{Decision, Glob, Policy, Rule};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOf {
    Rule,
    Role,
}

/// A rule or a role that a set has otherwise than this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub of: StepOf,
    pub name: String,
    /// Its text here; `None` where there is none.
    pub before: Option<String>,
    /// Its text in the set; `None` where it is not in there any more.
    pub after: Option<String>,
    /// The rule as it would be here.
    pub rule: Option<Rule>,
}

/// What a set would change here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    pub steps: Vec<Step>,
    /// How many of its rules and roles are here as they are there.
    pub already: usize,
    /// Rules and roles that are here by the same name, and are the user's own or of another author.
    pub others: Vec<String>,
    /// Rules and roles that the policy here takes from no team.
    pub forbidden: Vec<String>,
}

impl Step {
    /// `new rule x (allow)`, `role x, changed`, `rule x, taken back`.
    pub fn says(&self) -> String {
        let what = match self.of {
            StepOf::Rule => "rule",
            StepOf::Role => "role",
        };
        let does = self.rule.as_ref().map(|rule| format!(" ({})", rule.word())).unwrap_or_default();
        match (&self.before, &self.after) {
            (None, _) => format!("new {what} {}{does}", self.name),
            (Some(_), Some(_)) => format!("{what} {}, changed{does}", self.name),
            (Some(_), None) => format!("{what} {}, taken back", self.name),
        }
    }

    pub fn diff(&self) -> String {
        diff(self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default())
    }

    /// A text with this step made.
    ///
    /// # Errors
    /// The text cannot be changed so.
    pub fn made_in(&self, text: &str) -> Result<String, EditError> {
        match (self.of, &self.before, &self.after) {
            (StepOf::Role, _, after) => with_role(text, &self.name, after.as_deref()),
            (StepOf::Rule, None, Some(after)) => edit::add(text, after),
            (StepOf::Rule, Some(_), Some(after)) => edit::replace(text, &self.name, after),
            (StepOf::Rule, Some(_), None) => Ok(edit::remove(text, &self.name)?.0),
            (StepOf::Rule, None, None) => Ok(text.to_owned()),
        }
    }
}

impl Steps {
    /// How many rules and roles there are to take over, and how many to take back.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |of| self.steps.iter().filter(|step| step.of == of && step.after.is_some()).count();
        let back = self.steps.iter().filter(|step| step.after.is_none()).count();
        (count(StepOf::Rule), count(StepOf::Role), back)
    }
}

/// What a set would change: one that `author` signed, of what was taken over from there; without author, of the operator's own.
///
/// # Errors
/// The policy is broken, or `config.toml` cannot be read.
pub fn steps(set: &Set, author: Option<&str>, in_force: &Policy, file: RuleFile<'_>) -> Result<Steps, ChangeError> {
    let mut found = Steps::default();
    let only_tightens = author.is_some() && in_force.given.team_may() == TeamMay::Tighten;
    let text = file.text()?.unwrap_or_else(|| BUILT_IN.to_owned());
    let policy = policy_file::load(file.place)?;
    let written = || policy.all_rules().chain(&policy.disabled);
    for carried in &set.rules {
        let rule = carried.of(author);
        let known = written().find(|known| known.id == rule.id);
        if known.is_some_and(|known| known.says_the_same(&rule)) {
            found.already += 1;
        } else if known.is_some_and(|known| known.team.as_deref() != author) {
            found.others.push(format!("rule {}", rule.id));
        } else if only_tightens && rule.decision == Decision::Allow {
            found.forbidden.push(format!("rule {}", rule.id));
        } else {
            let before = known.and_then(|known| edit::rule(&text, &known.id).ok());
            let (of, name, after) = (StepOf::Rule, rule.id.clone(), Some(carried.text(author)));
            found.steps.push(Step { of, name, before, after, rule: Some(rule) });
        }
    }
    let is_in = |rule: &Rule| set.rules.iter().any(|carried| carried.rule.id == rule.id);
    for rule in written().filter(|rule| author.is_some() && rule.team.as_deref() == author && !is_in(rule)) {
        let (of, name, before) = (StepOf::Rule, rule.id.clone(), edit::rule(&text, &rule.id).ok());
        found.steps.push(Step { of, name, before, after: None, rule: None });
    }
    roles(set, author, &written_roles(&config_text(file.places)?), &mut found);
    if only_tightens {
        // What a role grants more may be used.
        let (more, rest) = found.steps.into_iter().partition(|step| step.of == StepOf::Role && step.after.is_some());
        found.steps = rest;
        let more: Vec<Step> = more;
        found.forbidden.extend(more.into_iter().map(|step| format!("role {}", step.name)));
    }
    Ok(found)
}

fn roles(set: &Set, author: Option<&str>, written: &[(CarriedRole, Option<String>)], found: &mut Steps) {
    let step = |name: &str, before: Option<&CarriedRole>, after: Option<&CarriedRole>| {
        let text = |role: Option<&CarriedRole>| role.map(|role| role.text(author));
        Step { of: StepOf::Role, name: name.to_owned(), before: text(before), after: text(after), rule: None }
    };
    for role in &set.roles {
        match written.iter().find(|(known, _)| known.name == role.name) {
            Some((known, team)) if (known, team.as_deref()) == (role, author) => found.already += 1,
            Some((_, team)) if team.as_deref() != author => found.others.push(format!("role {}", role.name)),
            known => found.steps.push(step(&role.name, known.map(|(known, _)| known), Some(role))),
        }
    }
    let is_gone = |(known, team): &&(CarriedRole, Option<String>)| {
        author.is_some() && team.as_deref() == author && set.roles.iter().all(|role| role.name != known.name)
    };
    found.steps.extend(written.iter().filter(is_gone).map(|(known, _)| step(&known.name, Some(known), None)));
}

/// The text of `config.toml`; empty where there is none.
fn config_text(places: &Places) -> Result<String, ChangeError> {
    let path = places.config_file();
    match policy_file::text(&path) {
        Ok(text) => Ok(text),
        Err(Why::Unreadable(cause)) if cause.kind() == ErrorKind::NotFound && fs::symlink_metadata(&path).is_err() => {
            Ok(String::new())
        }
        Err(Why::Unreadable(cause)) => Err(ChangeError::Unreadable { path, cause }),
        Err(Why::Untrusted(error)) => Err(error.into()),
        Err(why @ (Why::NoText | Why::Program | Why::Problems(_))) => {
            Err(ChangeError::Unreadable { path, cause: std::io::Error::other(why.to_string()) })
        }
    }
}

/// What roles grant here once all these steps are made, of those that grant something else then: by name, in words.
///
/// # Errors
/// What `config.toml` has wrong, or would have then.
pub fn grants(places: &Places, steps: &[&Step]) -> Result<Vec<(String, String)>, ChangeError> {
    let (before, after) = with_roles(places, steps)?;
    let read = |text: &str| read_roles(text, places);
    let (before, after) = (read(&before)?, read(&after)?);
    let globs = |globs: &[Glob]| globs.iter().map(Glob::text).collect::<Vec<_>>().join(", ");
    let words = |role: &Role| {
        let on = if role.servers.is_empty() { "every server".to_owned() } else { globs(&role.servers) };
        let more =
            role.on_servers.iter().map(|one| format!("; {} on {}", globs(&one.capabilities), globs(&one.servers)));
        format!("{} on {on}{}", globs(&role.capabilities), more.collect::<String>())
    };
    let changed = after.iter().filter(|role| !before.contains(role));
    Ok(changed.map(|role| (role.name.clone(), words(role))).collect())
}

fn read_roles(text: &str, places: &Places) -> Result<Vec<Role>, ChangeError> {
    roles_of(text, places).map_err(|problems| ChangeError::Breaks { path: places.config_file(), problems })
}

fn with_roles(places: &Places, steps: &[&Step]) -> Result<(String, String), ChangeError> {
    let before = config_text(places)?;
    let roles = steps.iter().filter(|step| step.of == StepOf::Role);
    let after = roles.into_iter().try_fold(before.clone(), |text, step| step.made_in(&text));
    let after = after.map_err(|error| ChangeError::Edit { path: places.config_file(), error })?;
    Ok((before, after))
}

/// Makes steps: recorded with the signature of the set that they are from, then written. What rules newly allow then waits to be accepted,
/// as after any change of the policy.
pub fn take_over(
    steps: &[&Step],
    (author, from): (Option<&str>, Option<&Value>),
    file: RuleFile<'_>,
    now: i64,
) -> Result<(), ChangeError> {
    let what = |of: StepOf| {
        let names: Vec<String> = steps.iter().filter(|step| step.of == of).map(|step| step.says()).collect();
        let whose = author.map(|author| format!(", of the team's set of {author}")).unwrap_or_default();
        (!names.is_empty()).then(|| format!("took over {}{whose}", names.join(", ")))
    };
    let (rules, roles): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(|step| step.of == StepOf::Rule);
    if from.is_some() {
        // The policy as it is counts as accepted before there is a trace of anything: what is new in it then waits.
        Layers::of(file.places, None, file.place).load(Keeps::Copies);
    }
    let made = |text: &str| rules.iter().try_fold(text.to_owned(), |text, step| step.made_in(&text));
    let drafted = if rules.is_empty() { None } else { Some(file.draft(made)?) };
    // Both files are changed under one lock, which the draft holds.
    let _lock = drafted.is_none().then(|| lock(file.places)).transpose()?;
    let path = file.places.config_file();
    let (before, after) = with_roles(file.places, &roles)?;
    if !roles.is_empty() {
        read_roles(&after, file.places)?;
    }
    let written = written_roles(&before);
    let is_shown = |step: &&Step| {
        let known = written.iter().find(|(known, _)| known.name == step.name);
        known.map(|(known, team)| known.text(team.as_deref())) == step.before
    };
    if !roles.iter().all(is_shown) {
        return Err(ChangeError::Meanwhile(path));
    }
    let draft = match drafted {
        None => None,
        Some(Drafted::Broken { problems, .. }) => {
            return Err(ChangeError::Breaks { path: file.place.path().into(), problems });
        }
        Some(Drafted::Sound(draft)) => Some(draft),
    };
    if let Some(draft) = &draft {
        let text = draft.before.as_deref().unwrap_or(BUILT_IN);
        if !rules.iter().all(|step| edit::rule(text, &step.name).ok() == step.before) {
            return Err(ChangeError::Meanwhile(file.place.path().into()));
        }
        draft.write_from(&what(StepOf::Rule).unwrap_or_default(), from, now)?;
    }
    write_roles(what(StepOf::Role), (&before, &after), from, file, now)
}

fn write_roles(
    what: Option<String>,
    (before, after): (&str, &str),
    from: Option<&Value>,
    RuleFile { places, .. }: RuleFile<'_>,
    now: i64,
) -> Result<(), ChangeError> {
    let Some(what) = what else { return Ok(()) };
    let path = places.config_file();
    let changed = diff(before, after);
    let mut entry = Entry::new(now, Kind::Policy, &"mcp-approve".into(), &"roles".into())
        .with("what", what)
        .with("operator", user::name())
        .with("file", path.display().to_string())
        .with("diff", changed.lines().collect::<Vec<_>>());
    if let Some(from) = from {
        entry.uncut.add("from_team", from);
    }
    if config_text(places)? != before {
        return Err(ChangeError::Meanwhile(path));
    }
    if from.is_some() {
        record(places, entry)?;
    } else {
        record_if_begun(places, entry)?;
    }
    replace(&path, after).map_err(|cause| ChangeError::Unwritable { path, cause })
}

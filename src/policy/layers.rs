//! Pools the files of all layers: every rule counts, the strictest wins, the defaults apply last. Reads no file.
//!
//! A file that has changed tightens at once and loosens once the operator has accepted it: until then its new allows do
//! not count, and the asks and denies that it dropped still do.

use std::collections::HashMap;
use std::sync::Arc;

use super::parse::built_in;
use super::rule::{Decision, Given, Layer, Pending, Policy, Rule, TeamMay};
use super::under::Roots;
use crate::signing::{Level, Needs, Required, standing::LifeSign};
use crate::wire::Digest;

#[derive(Clone, Debug)]
pub struct Contribution {
    pub layer: Layer,
    /// Its path, for listings.
    pub file: Arc<str>,
    pub state: FileState,
}

#[derive(Clone, Debug)]
pub enum FileState {
    /// It is taken as it is.
    Whole(Box<Policy>),
    /// It has changed since it was accepted (or never was, and must be): `diff` shows how.
    Changed { now: Box<Policy>, accepted: Box<Policy>, diff: String },
    /// It cannot be used, for the reason in `banner`: the asks and denies of the last usable text still count.
    Broken { banner: String, before: Vec<Policy> },
}

/// Pools all layers. No contribution at all is the built-in default.
pub fn pool(contributions: &[Contribution], roots: &Roots) -> Policy {
    let (mut rules, mut disabled) = (Vec::new(), Vec::new());
    let mut given = Given::default();
    let mut banners = Vec::new();
    let mut pending = Vec::new();
    let mut allows_count = true;
    let (mut list, mut texts) = (String::new(), Vec::new());
    for Contribution { layer, file, state } in contributions {
        let of_file = |rule: Rule| Rule { layer: *layer, file: Some(Arc::clone(file)), ..rule };
        let mut take = |found: Vec<Rule>| rules.extend(found.into_iter().map(of_file));
        let off: &[Rule] = match state {
            FileState::Whole(policy) => &policy.disabled,
            FileState::Changed { now, .. } => &now.disabled,
            FileState::Broken { .. } => &[],
        };
        disabled.extend(off.iter().cloned().map(of_file));
        let mut tell = |what: &str, digest: &Digest| {
            list.push_str(&format!("{} {file} {what} {digest}\n", layer.word()));
        };
        match state {
            FileState::Whole(policy) => {
                tell("is", &policy.digest);
                texts.extend(policy.texts.iter().cloned());
                given = strictest(given, policy.given);
                take(policy.all_rules().cloned().collect());
            }
            FileState::Changed { now, accepted, diff } => {
                tell("is", &now.digest);
                tell("was", &accepted.digest);
                texts.extend([now, accepted].into_iter().flat_map(|one| one.texts.iter().cloned()));
                let loosens = loosened(accepted, now);
                given = strictest(given, both(accepted.given, now.given));
                let known = ById::of(accepted);
                take(now.all_rules().filter(|rule| !is_new_allow(rule, &known)).cloned().collect());
                take(dropped(accepted, now).cloned().collect());
                if !loosens.is_empty() {
                    let (layer, file) = (*layer, file.to_string());
                    banners.push(waits(layer, &file, loosens.len()));
                    let (digest, diff, needs) = (now.digest, diff.clone(), Needs::Nothing);
                    pending.push(Pending { layer, file, digest, loosens, needs, diff });
                }
            }
            FileState::Broken { banner, before } => {
                allows_count = false;
                // A machine's file that was never usable may have asked for signatures, or for signs of life.
                if *layer == Layer::System && before.is_empty() {
                    given.signed = Some(Required::Always);
                    given.life = Some(LifeSign::Required);
                    given.team = Some(TeamMay::Tighten);
                }
                banners.push(banner.clone());
                tell("broken", &Digest::of(banner.as_bytes()));
                texts.push(banner.as_str().into());
                for policy in before {
                    tell("was", &policy.digest);
                    texts.extend(policy.texts.iter().cloned());
                    given = strictest(given, policy.given);
                    take(policy.all_rules().filter(|rule| rule.decision > Decision::Allow).cloned().collect());
                }
            }
        }
    }
    let digest = match contributions {
        [] => {
            let Policy { digest, texts: built_in, .. } = built_in();
            texts = built_in;
            digest
        }
        [Contribution { state: FileState::Whole(policy), .. }] => policy.digest,
        _ => {
            texts.push(list.as_str().into());
            Digest::of(list.as_bytes())
        }
    };
    let (results, rules): (Vec<Rule>, Vec<Rule>) = rules.into_iter().partition(|rule| rule.result.is_some());
    let is_too_much = |rule: &Rule| given.team_may() == TeamMay::Tighten && rule.team_loosens();
    let (too_much, rules): (Vec<Rule>, Vec<Rule>) = rules.into_iter().partition(is_too_much);
    disabled.extend(too_much);
    let banner = (!banners.is_empty()).then(|| banners.join(" — "));
    Policy {
        defaults: given.completed(),
        given,
        signed: given.signed.unwrap_or_default(),
        life: given.life.unwrap_or_default(),
        ssh_keygen: None,
        level: Level::default(),
        rules,
        results,
        disabled,
        allows_count,
        roots: roots.clone(),
        digest,
        texts,
        banner,
        pending,
    }
}

/// What a file loosens in comparison with its accepted text, in our words with its own ids. Empty when it only tightens.
pub fn loosened(accepted: &Policy, now: &Policy) -> Vec<String> {
    let known = ById::of(accepted);
    let mut found: Vec<String> =
        now.all_rules().filter(|rule| is_new_allow(rule, &known)).map(|rule| suspended(&rule.id)).collect();
    let ids = ById::of(now);
    found.extend(dropped(accepted, now).map(|rule| {
        let verb = if ids.0.contains_key(rule.id.as_str()) { "changes the" } else { "drops the" };
        format!("{verb} {} rule {}", rule.word(), rule.id)
    }));
    if now.signed < accepted.signed {
        found.push(format!("lowers [operator] signed from {} to {}", accepted.signed.word(), now.signed.word()));
    }
    if now.life < accepted.life {
        found.push("drops [desk] required".to_owned());
    }
    if now.given.team_may() < accepted.given.team_may() {
        found.push("lowers [desk] team_may from tighten to loosen".to_owned());
    }
    let (was, is) = (accepted.given.completed(), now.given.completed());
    let mut lowers = |name: &str, is_lower: bool, was: &str, is: &str| {
        if is_lower {
            found.push(format!("lowers the default for {name} from {was} to {is}"));
        }
    };
    lowers("pure", is.pure < was.pure, was.pure.word(), is.pure.word());
    lowers("likely", is.likely < was.likely, was.likely.word(), is.likely.word());
    lowers("first_use", is.first_use < was.first_use, was.first_use.word(), is.first_use.word());
    lowers("new", is.new < was.new, was.new.word(), is.new.word());
    lowers("mutates", is.mutates < was.mutates, was.mutates.word(), is.mutates.word());
    lowers("hazard", is.hazard < was.hazard, was.hazard.word(), is.hazard.word());
    found
}

fn suspended(id: &str) -> String {
    format!("allows: {id}")
}

impl Pending {
    /// Whether the allow of this id does not count until the file is accepted.
    pub fn suspends(&self, id: &str) -> bool {
        self.loosens.contains(&suspended(id))
    }
}

/// The rules of a policy by their ids: a file of many thousands must not keep its server from starting.
struct ById<'p>(HashMap<&'p str, Vec<&'p Rule>>);

impl<'p> ById<'p> {
    fn of(policy: &'p Policy) -> Self {
        let mut by_id: HashMap<&str, Vec<&Rule>> = HashMap::new();
        for rule in policy.all_rules() {
            by_id.entry(&rule.id).or_default().push(rule);
        }
        Self(by_id)
    }

    fn has(&self, rule: &Rule) -> bool {
        self.0.get(rule.id.as_str()).is_some_and(|alike| alike.iter().any(|one| one.says_the_same(rule)))
    }
}

fn is_new_allow(rule: &Rule, accepted: &ById<'_>) -> bool {
    rule.decision == Decision::Allow && !accepted.has(rule)
}

/// The asks and denies that are not there any more as they were.
fn dropped<'p>(accepted: &'p Policy, now: &'p Policy) -> impl Iterator<Item = &'p Rule> {
    let there = ById::of(now);
    accepted.all_rules().filter(move |rule| rule.decision > Decision::Allow && !there.has(rule))
}

fn waits(layer: Layer, file: &str, count: usize) -> String {
    let things =
        if count == 1 { "1 change that allows more is" } else { &format!("{count} changes that allow more are") };
    format!(
        "the {} policy {file} changed: {things} inactive until you accept it: press 5 in the console, or run \
         `mcp-approve rules accept`",
        layer.word()
    )
}

/// The stricter of each; what neither gives is not given.
fn strictest(one: Given, other: Given) -> Given {
    Given {
        pure: one.pure.max(other.pure),
        likely: one.likely.max(other.likely),
        first_use: one.first_use.max(other.first_use),
        new: one.new.max(other.new),
        mutates: one.mutates.max(other.mutates),
        hazard: one.hazard.max(other.hazard),
        signed: one.signed.max(other.signed),
        life: one.life.max(other.life),
        team: one.team.max(other.team),
    }
}

/// Joins two states of one file: the stricter of each default. One that only one state gives counts if it tightens the built-in.
fn both(was: Given, is: Given) -> Given {
    let built_in = Given::default().completed();
    fn one<T: Ord + Copy>(was: Option<T>, is: Option<T>, built_in: T) -> Option<T> {
        match (was, is) {
            (Some(was), Some(is)) => Some(was.max(is)),
            (one, other) => one.or(other).filter(|given| *given > built_in),
        }
    }
    Given {
        pure: one(was.pure, is.pure, built_in.pure),
        likely: one(was.likely, is.likely, built_in.likely),
        first_use: one(was.first_use, is.first_use, built_in.first_use),
        new: one(was.new, is.new, built_in.new),
        mutates: one(was.mutates, is.mutates, built_in.mutates),
        hazard: one(was.hazard, is.hazard, built_in.hazard),
        signed: one(was.signed, is.signed, Required::default()),
        life: one(was.life, is.life, LifeSign::default()),
        team: one(was.team, is.team, TeamMay::default()),
    }
}

/// The policy of an empty text, which a file that was never accepted is compared with.
pub fn nothing(roots: &Roots) -> Policy {
    Policy {
        given: Given::default(),
        rules: Vec::new(),
        results: Vec::new(),
        digest: Digest::of(b""),
        texts: Vec::new(),
        roots: roots.clone(),
        ..built_in()
    }
}

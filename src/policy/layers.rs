//! Pools the files of all layers: every rule counts, the strictest wins, the defaults apply last. Reads no file.
//!
//! A file that has changed tightens at once and loosens once the operator has accepted it: until then its new allows do
//! not count, its new asks take no place of a default that denies, and the asks and denies that it dropped still do.

use std::collections::HashMap;
use std::sync::Arc;

use super::parse::built_in;
use super::rule::{Decision, Given, Layer, Pending, Policy, Rule, RuleMay, TeamMay};
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
    /// It cannot be used, for the reason in `banner`: the asks and denies of the last usable text still tighten.
    Broken { banner: String, before: Vec<Policy> },
}

impl FileState {
    /// What it gives in `[defaults]` and beside them.
    fn given(&self, layer: Layer) -> Given {
        match self {
            Self::Whole(policy) => policy.given,
            Self::Changed { now, accepted, .. } => both(accepted.given, now.given),
            Self::Broken { before, .. } => {
                let mut given = before.iter().map(|policy| policy.given).fold(Given::default(), strictest);
                // A machine's file that was never usable may have asked for signatures, or for signs of life.
                if layer == Layer::System && before.is_empty() {
                    given.signed = Some(Required::Always);
                    given.life = Some(LifeSign::Required);
                    given.team = Some(TeamMay::Tighten);
                }
                given
            }
        }
    }
}

/// Pools all layers. No contribution at all is the built-in default.
pub fn pool(contributions: &[Contribution], roots: &Roots) -> Policy {
    let (mut rules, mut disabled) = (Vec::new(), Vec::new());
    let each: Vec<Given> = contributions.iter().map(|one| one.state.given(one.layer)).collect();
    let given = each.iter().copied().fold(Given::default(), strictest);
    let mut banners = Vec::new();
    let mut pending = Vec::new();
    let mut allows_count = true;
    let (mut list, mut texts) = (String::new(), Vec::new());
    for (at, Contribution { layer, file, state }) in contributions.iter().enumerate() {
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
        let tightens = |rule: &Rule| (rule.decision > Decision::Allow).then(|| rule.clone().that_may(RuleMay::Tighten));
        let others = but(&each, at);
        match state {
            FileState::Whole(policy) => {
                tell("is", &policy.digest);
                texts.extend(policy.texts.iter().cloned());
                take(policy.all_rules().cloned().collect());
            }
            FileState::Changed { now, accepted, diff } => {
                tell("is", &now.digest);
                tell("was", &accepted.digest);
                texts.extend([now, accepted].into_iter().flat_map(|one| one.texts.iter().cloned()));
                let loosens = loosened(accepted, now, others);
                let (known, denies) = (ById::of(accepted), accepted.given.denies() || others.denies());
                let counts = |rule: &Rule| match rule.decision {
                    _ if known.has(rule) => Some(rule.clone()),
                    Decision::Ask if !denies => Some(rule.clone()),
                    Decision::Allow | Decision::Ask | Decision::Deny => tightens(rule),
                };
                take(now.all_rules().filter_map(counts).collect());
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
                banners.push(banner.clone());
                tell("broken", &Digest::of(banner.as_bytes()));
                texts.push(banner.as_str().into());
                for policy in before {
                    tell("was", &policy.digest);
                    texts.extend(policy.texts.iter().cloned());
                    take(policy.all_rules().filter_map(tightens).collect());
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
    let banner = (!banners.is_empty()).then(|| banners.join(" — "));
    let pooled = Policy {
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
    };
    where_teams_may(given.team_may(), pooled)
}

/// What counts of a team's rules is decided by the policy as it is now, not as it was when they were taken over.
pub fn where_teams_may(may: TeamMay, mut policy: Policy) -> Policy {
    let of_team = |rule: Rule| match (may, &rule.team) {
        (TeamMay::Tighten, Some(_)) => rule.that_may(RuleMay::Tighten),
        (TeamMay::Tighten, None) | (TeamMay::Loosen, _) => rule,
    };
    let is_suspended = |rule: &Rule| rule.may == RuleMay::Tighten && rule.decision == Decision::Allow;
    let suspended;
    (suspended, policy.rules) = policy.rules.into_iter().map(of_team).partition(is_suspended);
    policy.disabled.extend::<Vec<Rule>>(suspended);
    policy
}

/// What a file loosens in comparison with its accepted text, in our words with its own ids. Empty when it only tightens. `others` is what
/// the other files give: where a default denied already, a rule that asks loosens.
pub fn loosened(accepted: &Policy, now: &Policy, others: Given) -> Vec<String> {
    let (known, denies) = (ById::of(accepted), accepted.given.denies() || others.denies());
    let loosens = |rule: &&Rule| match rule.decision {
        Decision::Allow => true,
        Decision::Ask => denies && rule.result.is_none(),
        Decision::Deny => false,
    };
    let new = now.all_rules().filter(loosens).filter(|rule| !known.has(rule));
    let mut found: Vec<String> = new
        .map(|rule| match rule.decision {
            Decision::Allow => suspended(&rule.id),
            Decision::Ask | Decision::Deny => format!("asks where a default denies: {}", rule.id),
        })
        .collect();
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

/// What all of these give but this one.
pub fn but(each: &[Given], this: usize) -> Given {
    let others = each.iter().enumerate().filter(|(at, _)| *at != this);
    others.map(|(_, given)| *given).fold(Given::default(), strictest)
}

/// The stricter of each; what neither gives is not given.
pub fn strictest(one: Given, other: Given) -> Given {
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

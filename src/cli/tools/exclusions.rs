//! What keeps a tool out of a search: the hard gate before any ranking. What a tool says of itself does not open it.

use std::collections::BTreeMap;

use crate::behavior::tags;
use crate::behavior::taxonomy::Badge;
use crate::cli::args::{BadgeChoice, ToolsSearchOptions};
use crate::gate::data::pin::PinState;
use crate::home::places::Places;
use crate::pins::reading::StoredTool;
use crate::policy::decide::denied_beforehand;
use crate::policy::role::{Lacks, Role};
use crate::policy::rule::Policy;

/// The gate of one search.
pub(super) struct Exclusions<'s> {
    pub(super) options: &'s ToolsSearchOptions,
    pub(super) role: Option<&'s Role>,
    pub(super) policy: &'s Policy,
    /// Milliseconds since 1970, UTC.
    pub(super) now: i64,
    pub(super) places: &'s Places,
}

/// Why a tool may not be used. Foreign text in both, raw.
pub(super) struct Exclusion {
    /// For a count of several: `the role analyst lacks the capability`.
    pub(super) kind: String,
    /// In full.
    pub(super) why: String,
}

impl Exclusions<'_> {
    /// What keeps one tool out; `None` where nothing does.
    pub(super) fn of(&self, known: &StoredTool) -> Option<Exclusion> {
        let tags = tags::of(&known.behavior, &known.tool.name);
        self.role(known)
            .or_else(|| self.policy(known))
            .or_else(|| self.refused(known))
            .or_else(|| self.wishes(known, &tags))
    }

    fn role(&self, known: &StoredTool) -> Option<Exclusion> {
        let role = self.role?;
        let lacks = role.lacks(&known.server.name, &known.tool.name, Some(&known.tool), &known.behavior)?;
        let grants = || format!("; it grants {}", listed(role.granted(&known.server.name)));
        let (kind, has) = match &lacks {
            Lacks::Server => ("is not for their server", format!("; it is for {}", listed(role.servers.iter()))),
            Lacks::Capability(_) => ("has no capability for them", grants()),
            Lacks::Entitlement(_) => ("does not grant what they require", grants()),
        };
        let why = format!("the role {} {}{has}", role.name, lacks.words());
        Some(Exclusion { kind: format!("the role {} {kind}", role.name), why })
    }

    fn policy(&self, known: &StoredTool) -> Option<Exclusion> {
        let (server, tool) = (&known.server.name, &known.tool.name);
        let why = denied_beforehand(self.policy, server, tool, &known.behavior, self.now)?;
        Some(Exclusion { kind: "the policy denies every call of them".to_owned(), why: format!("the policy: {why}") })
    }

    fn refused(&self, known: &StoredTool) -> Option<Exclusion> {
        let why = format!("the operator refused this definition (see `{}`)", self.places.command("tools review"));
        (known.pin_state == PinState::Refused)
            .then(|| Exclusion { kind: "their definition was refused".to_owned(), why })
    }

    /// What the search itself asks for.
    fn wishes(&self, known: &StoredTool, tags: &[String]) -> Option<Exclusion> {
        let exclusion = |kind: &str, why: String| Some(Exclusion { kind: kind.to_owned(), why });
        let badge = match self.options.badge {
            Some(BadgeChoice::Pure) => Badge::Pure,
            Some(BadgeChoice::Likely) => Badge::Likely,
            Some(BadgeChoice::Mutates) => Badge::Mutates,
            None => known.behavior.badge(),
        };
        if known.behavior.badge() != badge {
            return exclusion("--badge asks for another badge", format!("it is {}", known.behavior.badge().word()));
        }
        let wanted = &self.options.capability;
        if !wanted.is_empty() && !wanted.iter().any(|wanted| tags.iter().any(|tag| grants(wanted, tag))) {
            let is = if tags.is_empty() { "unknown".to_owned() } else { tags.join(" or ") };
            return exclusion("--capability asks for another one", format!("its capability is {is}"));
        }
        None
    }
}

/// How many of which kind, the most first: `4 because the role analyst has no capability for them, 1 because …`.
pub(super) fn counted<'b>(exclusions: impl Iterator<Item = &'b Exclusion>) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    exclusions.for_each(|exclusion| *kinds.entry(&exclusion.kind).or_default() += 1);
    let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    kinds.iter().map(|(kind, count)| format!("{count} because {kind}")).collect::<Vec<_>>().join(", ")
}

fn listed<'a>(globs: impl Iterator<Item = &'a crate::policy::glob::Glob>) -> String {
    let texts: Vec<&str> = globs.map(|glob| glob.text()).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

/// `files:read` grants itself; `*:read` and `files:*` grant what they leave open.
fn grants(wanted: &str, tag: &str) -> bool {
    let part = |wanted: &str, is: &str| wanted == "*" || wanted == is;
    match (wanted.split_once(':'), tag.split_once(':')) {
        (Some((things, act)), Some((its_things, its_act))) => part(things, its_things) && part(act, its_act),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::grants;

    #[test]
    fn a_capability_grants_what_it_names_and_what_it_leaves_open() {
        for wanted in ["files:read", "*:read", "files:*"] {
            assert!(grants(wanted, "files:read"), "{wanted}");
        }
        for other in ["files:write", "issues:read", "files", "*", "file:read", ""] {
            assert!(!grants(other, "files:read"), "{other}");
        }
    }
}

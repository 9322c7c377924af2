//! What of a set is new here, and what is no longer in it: agreements about servers that were seen, rules and roles. And whose sets of a team
//! wait for a review. Changes nothing.

use std::collections::HashSet;

use crate::behavior::agreed::{Agreement, What};
use crate::home::agreed::{self, AgreedError, Known};
use crate::home::change::{By, ChangeError, RuleFile};
use crate::home::layers::{Keeps, Layers};
use crate::home::places::Places;
use crate::home::policy_file::PolicyPlace;
use crate::home::set::{self, AgreementOffer, Set};
use crate::home::standing;
use crate::home::taken::{Steps, steps};
use crate::pins::reading::Server;
use crate::pins::{PinStore, PinsError};
use crate::policy::rule::TeamMay;
use crate::wire::Digest;

#[derive(Debug, thiserror::Error)]
pub enum OfferError {
    #[error(transparent)]
    Pins(#[from] PinsError),
    #[error(transparent)]
    Agreed(#[from] AgreedError),
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl OfferError {
    pub fn hint(&self) -> String {
        match self {
            Self::Pins(error) => error.hint(),
            Self::Agreed(error) => error.hint(),
            Self::Change(error) => error.hint(),
        }
    }
}

/// An agreement that is new for a server that was seen here.
pub struct Wanted<'s> {
    pub offer: &'s AgreementOffer,
    pub server: String,
    pub fingerprint: String,
}

/// What is new in a set, and what is no longer in it.
pub struct Found<'s> {
    pub wanted: Vec<Wanted<'s>>,
    /// How much is here as it is there.
    pub already: usize,
    /// Servers that were never seen here, and how many agreements are about each.
    pub unknown: Vec<(String, usize)>,
    /// What was agreed to in its author's name and is not in it.
    pub back: Vec<Known>,
    pub steps: Steps,
    /// How much was agreed to there, and is taken from no team here.
    pub forbidden: usize,
}

impl<'s> Found<'s> {
    /// Compares a set that `author` signed, or a file; of one server alone where one is named.
    ///
    /// # Errors
    /// What of this user's own files cannot be read.
    pub fn of(
        set: &'s Set,
        author: Option<&str>,
        server: Option<&str>,
        (store, places): (Option<&PinStore>, &Places),
        now: i64,
    ) -> Result<Self, OfferError> {
        let place = PolicyPlace::own(places);
        let in_force = Layers::of(places, None, &place).load(Keeps::Nothing);
        let servers = store.map(PinStore::servers).transpose()?.unwrap_or_default();
        let known = store.map(|store| agreed::all(store, places, now)).transpose()?.unwrap_or_default();
        let mut found = Self {
            wanted: Vec::new(),
            already: 0,
            unknown: Vec::new(),
            back: Vec::new(),
            steps: Steps::default(),
            forbidden: 0,
        };
        // There may be ten thousand of each.
        let counts: HashSet<Digest> =
            known.iter().filter(|one| one.trouble().is_none()).map(|one| one.kept.digest()).collect();
        for offer in set.agreed.iter().filter(|offer| server.is_none_or(|only| only == offer.server)) {
            found.sort(offer, &servers, &counts);
        }
        if author.is_some() && in_force.given.team_may() == TeamMay::Tighten {
            found.forbidden = std::mem::take(&mut found.wanted).len();
        }
        if server.is_none() {
            if let (Some(author), Some(store)) = (author, store) {
                found.back = agreed::of_team(store, places, author, now)?;
                let there: HashSet<&Agreement> = set.agreed.iter().map(|offer| &offer.agreement).collect();
                found.back.retain(|one| !there.contains(&one.kept.agreement));
            }
            found.steps = steps(set, author, &in_force, RuleFile { place: &place, places, by: By::Command })?;
            found.already += found.steps.already;
        }
        Ok(found)
    }

    fn sort(&mut self, offer: &'s AgreementOffer, servers: &[Server], counts: &HashSet<Digest>) {
        let whose: Vec<(String, String)> = match offer.agreement.what {
            What::Meta => vec![Default::default()],
            _ => {
                let of = |server: &Server| (server.name.clone(), server.fingerprint.clone());
                servers.iter().filter(|server| offer.is_of(server)).map(of).collect()
            }
        };
        if whose.is_empty() {
            match self.unknown.iter_mut().find(|(server, _)| *server == offer.server) {
                Some((_, count)) => *count += 1,
                None => self.unknown.push((offer.server.clone(), 1)),
            }
        }
        for (server, fingerprint) in whose {
            if counts.contains(&offer.agreement.digest(&fingerprint)) {
                self.already += 1;
            } else {
                self.wanted.push(Wanted { offer, server, fingerprint });
            }
        }
    }
}

/// Whose sets of a team have something that is not here, or no longer have something that is: the author, how many agreements, rules and
/// roles are new, and how much was taken back. What cannot be read is said where it is asked for.
pub fn waiting(here: (Option<&PinStore>, &Places), now: i64) -> Vec<(String, [usize; 4])> {
    let of = |offer: standing::TeamOffer| {
        let author = offer.signed.statement().signer.clone();
        let set = set::of_file(&offer.set.text).ok()?;
        let found = Found::of(&set, Some(&author), None, here, now).ok()?;
        let (rules, roles, back) = found.steps.counts();
        let counts = [found.wanted.len(), rules, roles, back + found.back.len()];
        (counts != [0; 4]).then_some((author, counts))
    };
    standing::brought(here.1, now).unwrap_or_default().into_iter().filter_map(of).collect()
}

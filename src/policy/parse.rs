//! Policy text to rules: one strict constructor, every problem at once, each with its line and its hint.
//!
//! Nothing is skipped: a key that is not understood is a problem, because a rule half understood could allow.

mod condition;
mod rule;

use toml::Spanned;
use toml::de::DeValue;

use super::reading::Reading;
use super::rule::{Decision, Defaults, FirstUse, Given, Likely, NewDefault, Policy, TeamMay};
use super::under::Roots;

pub use super::reading::Problem;
use crate::signing::{Level, Required, standing::LifeSign};
use crate::wire::Digest;

/// The text of the built-in default, comments and all: what a first file begins with.
pub const BUILT_IN: &str = include_str!("../../assets/policy.toml");
const TOP: &[&str] = &["version", "defaults", "operator", "desk", "rule"];
const OPERATOR: &[&str] = &["signed", "ssh_keygen"];
const DESK: &[&str] = &["required", "team_may"];
const DEFAULTS: &[&str] = &["pure", "likely", "first_use", "new", "mutates", "hazard"];
const ASKING: Defaults = Defaults {
    pure: Decision::Ask,
    likely: Likely::Ask,
    first_use: FirstUse::AskOnce,
    new: NewDefault::Ask,
    mutates: Decision::Ask,
    hazard: Decision::Ask,
};

/// The built-in default (assets/policy.toml): PURE is allowed, MUTATES and hazards ask.
pub fn built_in() -> Policy {
    parse(BUILT_IN).unwrap_or_else(|_| everything_asks("the built-in policy of this build is broken".to_owned()))
}

/// Reads a policy for a server whose home and folder are not known: paths that need them stay undecided.
pub fn parse(text: &str) -> Result<Policy, Vec<Problem>> {
    parse_at(text, &Roots::default())
}

/// Reads a policy for a server with these roots. An error is every problem in the text, in order of line.
pub fn parse_at(text: &str, roots: &Roots) -> Result<Policy, Vec<Problem>> {
    let (mut reading, document) = Reading::new(text);
    let table = document.get_ref();
    reading.check_keys(table, TOP);
    match table.get("version") {
        Some(value) => version(&mut reading, value),
        None => reading.problem(0..0, "the file does not say which version it has", "begin it with `version = 1`"),
    }
    let mut given = table.get("defaults").map(|value| defaults(&mut reading, value)).unwrap_or_default();
    let mut ssh_keygen = None;
    if let Some(operator) = table.get("operator").and_then(|value| reading.table(value, "operator")) {
        reading.check_keys(operator, OPERATOR);
        given.signed = reading.word_at(operator, "signed", Required::WORDS);
        ssh_keygen = operator.get("ssh_keygen").and_then(|value| reading.text(value, "ssh_keygen"));
    }
    if let Some(desk) = table.get("desk").and_then(|value| reading.table(value, "desk")) {
        reading.check_keys(desk, DESK);
        let required = desk.get("required").and_then(|value| reading.switch(value, "required"));
        given.team = reading.word_at(desk, "team_may", TeamMay::WORDS);
        given.life = required.map(|required| if required { LifeSign::Required } else { LifeSign::Optional });
    }
    let (rules, disabled) =
        table.get("rule").map(|value| rule::read_all(&mut reading, value, roots)).unwrap_or_default();
    let (results, rules) = rules.into_iter().partition(|rule| rule.result.is_some());
    let problems = reading.finish();
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Policy {
        defaults: given.completed(),
        given,
        signed: given.signed.unwrap_or_default(),
        life: given.life.unwrap_or_default(),
        ssh_keygen,
        level: Level::default(),
        rules,
        results,
        disabled,
        allows_count: true,
        roots: roots.clone(),
        digest: Digest::of(text.as_bytes()),
        texts: vec![text.into()],
        banner: None,
        pending: Vec::new(),
    })
}

/// The policy while a file cannot be read at start: everything asks; `banner` says why.
pub fn everything_asks(banner: String) -> Policy {
    Policy {
        defaults: ASKING,
        given: Given::default(),
        signed: Required::default(),
        life: LifeSign::default(),
        ssh_keygen: None,
        level: Level::default(),
        rules: Vec::new(),
        results: Vec::new(),
        disabled: Vec::new(),
        allows_count: false,
        roots: Roots::default(),
        digest: Digest::of(b""),
        texts: Vec::new(),
        banner: Some(banner),
        pending: Vec::new(),
    }
}

fn version(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) {
    match value.get_ref().as_integer() {
        None => reading.wrong_type(value, "version", "`version = 1`"),
        Some(number) if number.as_str() == "1" => {}
        Some(_) => reading.problem(
            value.span(),
            "this program reads version 1 of the policy language",
            "write `version = 1`, or use a newer mcp-approve",
        ),
    }
}

fn defaults<'t>(reading: &mut Reading<'t>, value: &Spanned<DeValue<'t>>) -> Given {
    let Some(table) = reading.table(value, "defaults") else {
        return Given::default();
    };
    reading.check_keys(table, DEFAULTS);
    let mutates = table.get("mutates").filter(|value| {
        let allows = value.get_ref().as_str() == Some("allow");
        if allows {
            let what = "`mutates` can never be \"allow\": every change would run unseen";
            let hint = "write \"ask\" or \"deny\", and a [[rule]] with decision = \"allow\" for the calls that may run";
            reading.problem(value.span(), what, hint);
        }
        !allows
    });
    Given {
        mutates: mutates.and_then(|value| reading.word(value, "mutates", &Decision::WORDS[1..])),
        pure: reading.word_at(table, "pure", Decision::WORDS),
        likely: reading.word_at(table, "likely", Likely::WORDS),
        first_use: reading.word_at(table, "first_use", FirstUse::WORDS),
        new: reading.word_at(table, "new", NewDefault::WORDS),
        hazard: reading.word_at(table, "hazard", Decision::WORDS),
        signed: None,
        life: None,
        team: None,
    }
}

impl Given {
    /// What is taken over from a team.
    pub fn team_may(self) -> TeamMay {
        self.team.unwrap_or_default()
    }

    /// Whether a default denies: then a rule that asks lets calls be approved that would be denied without it.
    pub fn denies(self) -> bool {
        [self.pure, self.mutates, self.hazard].contains(&Some(Decision::Deny)) || self.new == Some(NewDefault::Deny)
    }

    /// The defaults, with the built-in ones where none is given.
    pub fn completed(self) -> Defaults {
        Defaults {
            pure: self.pure.unwrap_or(Decision::Allow),
            likely: self.likely.unwrap_or(Likely::AskOnce),
            first_use: self.first_use.unwrap_or(FirstUse::Allow),
            new: self.new.unwrap_or(NewDefault::AskOnce),
            mutates: self.mutates.unwrap_or(Decision::Ask),
            hazard: self.hazard.unwrap_or(Decision::Ask),
        }
    }
}

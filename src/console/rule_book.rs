//! The rules for the console's screen: the policy files as they are now, with what is worth a look in them.

use super::found::{RuleBook, RuleLine};
use crate::home::config;
use crate::home::places::Places;
use crate::home::policy_file::{self, PolicyPlace};
use crate::policy::lint::lint;
use crate::policy::parse;
use crate::policy::rule::{Policy, Rule};

/// Reads every file as it is now; where `config.toml` is broken, only the operator's own policy. `now` is milliseconds since
/// 1970, UTC.
pub(super) fn read(places: &Places, now: i64) -> RuleBook {
    match config::policies(places) {
        Ok(files) => of_files(&files, now),
        Err(error) => {
            let book = of_files(&[PolicyPlace::own(places)], now);
            RuleBook { broken: Some(error.to_string()), ..book }
        }
    }
}

fn of_files(places: &[PolicyPlace], now: i64) -> RuleBook {
    let mut book = RuleBook {
        files: Vec::new(),
        rules: Vec::new(),
        defaults: parse::built_in().defaults,
        broken: None,
        built_in: places.iter().all(|place| !place.path().exists()),
    };
    for (at, place) in places.iter().enumerate() {
        book.files.push(place.path().to_path_buf());
        match policy_file::load(place) {
            Ok(policy) => {
                if at == 0 {
                    book.defaults = policy.defaults;
                }
                book.rules.extend(lines(&policy, at, now));
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
        disabled,
        file,
        line: rule.line,
        selects: rule.selects(),
        expires: rule.expires,
        note: rule.note.clone(),
        warnings: warnings.iter().filter(|warning| warning.rule == rule.id).cloned().collect(),
    };
    let standing = policy.rules.iter().map(|rule| (rule, false));
    standing.chain(policy.disabled.iter().map(|rule| (rule, true))).map(line).collect()
}

//! The policy files as they are now: their rules with warnings, for the console's screen, and the policy that is tried
//! on past calls.

use std::path::Path;

use super::found::{RuleBook, RuleLine};
use super::tried::Which;
use crate::home::config;
use crate::home::layers::{Keeps, Layers};
use crate::home::places::Places;
use crate::home::policy_file::{self, PolicyPlace};
use crate::policy::lint::lint;
use crate::policy::parse;
use crate::policy::rule::{Layer, Policy, Rule};

/// Reads every file as it is now; where `config.toml` is broken, only the operator's own policy. `now` is milliseconds since
/// 1970, UTC.
pub(super) fn read(places: &Places, now: i64) -> RuleBook {
    match config::policies(places) {
        Ok(files) => {
            let usual = files.first().cloned().unwrap_or_else(|| PolicyPlace::own(places));
            let pending = Layers::of(places, None, &usual).load(Keeps::Nothing).pending;
            RuleBook { pending, ..of_files(&files, now) }
        }
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
        pending: Vec::new(),
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
    all(policy).map(line).collect()
}

/// Every rule that is written, and whether it is switched off.
pub fn all(policy: &Policy) -> impl Iterator<Item = (&Rule, bool)> {
    policy.rules.iter().map(|rule| (rule, false)).chain(policy.disabled.iter().map(|rule| (rule, true)))
}

/// The policy that is tried on past calls, from the files as they are now: as they are written, or with one changed file as
/// if it were accepted.
///
/// # Errors
/// Why it cannot be read, and what to do.
pub(super) fn tried(places: &Places, which: &Which) -> Result<Policy, String> {
    let usual = || config::policies(places).ok().and_then(|all| all.into_iter().next());
    let usual = || usual().unwrap_or_else(|| PolicyPlace::own(places));
    match which {
        Which::Written => Layers::of(places, None, &usual()).as_written().map_err(|broken| broken.banner()),
        Which::Accepted { layer, file, digest, .. } => {
            let file = Path::new(file);
            let folder = if *layer == Layer::Project { file.parent() } else { None };
            let named = if *layer == Layer::Run { PolicyPlace::Named(file.to_path_buf()) } else { usual() };
            Layers::of(places, folder, &named).if_accepted(file, *digest).map_err(|error| error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::home::layers::Keeps;

    const RULE: &str = "[[rule]]\nid = 'more'\ndecision = 'allow'\ntool = 'write_file'\n";

    #[test]
    fn a_change_that_waits_is_tried_as_if_it_were_accepted_and_only_while_it_waits() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::under(home.path()).unwrap();
        fs::create_dir_all(places.config_dir()).unwrap();
        let file = places.policy_file();
        let standing = || Layers::of(&places, None, &PolicyPlace::Usual(file.clone())).load(Keeps::Copies);
        fs::write(&file, "version = 1\n").unwrap();
        standing();
        fs::write(&file, format!("version = 1\n{RULE}")).unwrap();
        let stands = standing();
        assert!(stands.rules.is_empty(), "it waits");
        let which =
            |digest| Which::Accepted { layer: Layer::User, file: file.display().to_string(), digest, server: None };
        let pending = which(stands.pending[0].digest);
        assert_eq!(tried(&places, &pending).unwrap().rules[0].id, "more");
        assert_eq!(tried(&places, &Which::Written).unwrap().rules.len(), 1);
        assert!(standing().rules.is_empty(), "trying it accepts nothing");
        fs::write(&file, format!("version = 1\n{RULE}note = 'again'\n")).unwrap();
        assert!(tried(&places, &pending).unwrap_err().contains("look at it again"));
        fs::write(&file, "version = 1\nrules = 3\n").unwrap();
        assert!(tried(&places, &Which::Written).unwrap_err().contains("policy.toml:2"));
    }

    #[test]
    fn a_projects_file_is_found_in_its_folder() {
        let home = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let places = Places::under(home.path()).unwrap();
        let file = project.path().join(crate::home::layers::PROJECT);
        fs::write(&file, format!("version = 1\n{RULE}")).unwrap();
        let usual = PolicyPlace::own(&places);
        let stands = Layers::of(&places, Some(project.path()), &usual).load(Keeps::Nothing);
        let (layer, digest) = (Layer::Project, stands.pending[0].digest);
        let which = Which::Accepted { layer, file: file.display().to_string(), digest, server: None };
        assert_eq!(tried(&places, &which).unwrap().rules.len(), 1);
    }
}

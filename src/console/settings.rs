//! `[console]` in `config.toml`: theme, bell, notices, mouse and keys. A mistake in it never keeps the console from opening.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keymap::Keys;
use super::model::{Confirmation, Manner, Palette};
use crate::home::config::{self, ConfigError};
use crate::home::{places::Places, policy_file};
use crate::policy::reading::{Problem, Reading};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsoleSettings {
    /// The terminal and the environment decide what the operator did not choose.
    pub theme: Option<Palette>,
    pub manner: Manner,
    pub notice: Option<Notice>,
    pub mouse: Pointer,
    pub confirmation: Confirmation,
    pub keys: Keys,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Not at all: there is only the bell.
    Off,
    Osc9,
    Osc777,
    Desktop,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pointer {
    #[default]
    Captured,
    /// It is left to the terminal, for selecting text.
    Left,
}

const KEYS: &[&str] = &["theme", "quiet", "notice", "mouse", "confirm", "keys"];

/// The default in place of what is wrong; and every problem of the whole file: a wrapper that cannot start tells only its host.
pub fn load(places: &Places) -> (ConsoleSettings, Vec<String>) {
    let path = places.config_file();
    if path.symlink_metadata().is_err() {
        return (ConsoleSettings::default(), Vec::new());
    }
    let text = match places.check_config().map_err(Into::into).and_then(|()| policy_file::text(&path)) {
        Ok(text) => text,
        // The operator's choice is unknown, so the stricter question is asked.
        Err(why) => {
            let settings = ConsoleSettings { confirmation: Confirmation::Word, ..ConsoleSettings::default() };
            return (settings, vec![format!("{} {why}", path.display())]);
        }
    };
    let problems = match check(places) {
        Ok(()) => Vec::new(),
        Err(ConfigError::Problems { path, problems }) => {
            problems.iter().map(|problem| format!("{}:{problem}", path.display())).collect()
        }
        Err(error) => vec![error.to_string()],
    };
    (parse(&text).0, problems)
}

/// Checks all of `config.toml`, `[console]` too, without using it.
pub fn check(places: &Places) -> Result<(), ConfigError> {
    let path = places.config_file();
    let mut problems = match config::check(places) {
        Ok(()) => Vec::new(),
        Err(ConfigError::Problems { problems, .. }) => problems,
        Err(error) => return Err(error),
    };
    problems.extend(policy_file::text(&path).map(|text| parse(&text).1).unwrap_or_default());
    // Both parsers report broken TOML.
    problems.sort();
    problems.dedup();
    if problems.is_empty() { Ok(()) } else { Err(ConfigError::Problems { path, problems }) }
}

fn parse(text: &str) -> (ConsoleSettings, Vec<Problem>) {
    let (mut reading, document) = Reading::new(text);
    let mut settings = ConsoleSettings::default();
    let table = document.get_ref().get("console").and_then(|value| reading.table(value, "console"));
    if let Some(table) = table {
        read(&mut reading, table, &mut settings);
    }
    let problems = reading.finish();
    // Broken syntax may have hidden `confirm`: an operator who wrote that word wanted more than one key.
    if !problems.is_empty() && table.is_none_or(|table| table.get("confirm").is_none()) && text.contains("confirm") {
        settings.confirmation = Confirmation::Word;
    }
    (settings, problems)
}

fn read<'t>(reading: &mut Reading<'t>, table: &DeTable<'t>, settings: &mut ConsoleSettings) {
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "theme" => {
                let words = [
                    ("auto", None),
                    ("dark", Some(Palette::Colours)),
                    ("light", Some(Palette::Light)),
                    ("colour-blind", Some(Palette::Safe)),
                    ("none", Some(Palette::Monochrome)),
                ];
                settings.theme = reading.word(value, "theme", &words).unwrap_or_default();
            }
            "quiet" => {
                let quiet = reading.switch(value, "quiet") == Some(true);
                settings.manner = if quiet { Manner::Quiet } else { Manner::Rings };
            }
            "notice" => {
                let words = [
                    ("auto", None),
                    ("off", Some(Notice::Off)),
                    ("osc9", Some(Notice::Osc9)),
                    ("osc777", Some(Notice::Osc777)),
                    ("desktop", Some(Notice::Desktop)),
                ];
                settings.notice = reading.word(value, "notice", &words).unwrap_or_default();
            }
            "mouse" => {
                let left = reading.switch(value, "mouse") == Some(false);
                settings.mouse = if left { Pointer::Left } else { Pointer::Captured };
            }
            "confirm" => {
                let words = [("key", Confirmation::Key), ("word", Confirmation::Word)];
                // An operator who wrote anything here wanted more than one key.
                settings.confirmation = reading.word(value, "confirm", &words).unwrap_or(Confirmation::Word);
            }
            "keys" => settings.keys = keys(reading, value),
            other => reading.unknown_key(key.span(), other, KEYS),
        }
    }
}

fn keys<'t>(reading: &mut Reading<'t>, value: &Spanned<DeValue<'t>>) -> Keys {
    let Some(table) = reading.table(value, "keys") else { return Keys::default() };
    let mut own: Vec<(String, Vec<String>)> = Vec::new();
    let mut places: Vec<(String, Range<usize>)> = Vec::new();
    for (key, value) in table {
        let name = key.get_ref().to_string();
        places.push((name.clone(), key.span()));
        let words = reading.texts(value, &name).into_iter().map(|(_, word)| word).collect();
        own.push((name, words));
    }
    match Keys::bind(&own) {
        Ok(keys) => keys,
        Err(conflicts) => {
            for conflict in conflicts {
                let at = places.iter().find(|(name, _)| *name == conflict.name).map(|(_, at)| at.clone());
                reading.problem(at.unwrap_or_else(|| value.span()), conflict.what, conflict.hint);
            }
            // All or none: the operator did not choose half a set of keys.
            Keys::default()
        }
    }
}

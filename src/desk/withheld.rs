//! What a wrapper says, made fit to leave its machine: secrets replaced as the log replaces them, and what is too long cut. Pure.

use std::borrow::Cow;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::told::{LONGEST_TOLD, Told};
use crate::audit::redact::Redactor;
use crate::behavior::arguments::reading::Reading;
use crate::gate::data::snapshot::Snapshot;
use crate::link::message::Wrapper;
use crate::wire::Digest;

/// A secret this short is not looked for outside its own place: it would be found in half of all words.
const SHORTEST: usize = 4;

/// How much of each text and list is told, the first that fits: all of it, then less and less.
const ROOMS: [Option<Room>; 3] = [None, Some(Room { text: 1024, list: 40 }), Some(Room { text: 64, list: 4 })];

#[derive(Clone, Copy)]
struct Room {
    text: usize,
    list: usize,
}

/// What is told of one thing, and it as its row has it.
pub struct Fit {
    pub told: Told,
    pub said: String,
}

/// The secrets of one call, which no text about it may say.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Those in the arguments of a card, and in what else of it is JSON.
    pub fn of(redactor: &Redactor, card: &Snapshot) -> Self {
        let Snapshot { arguments, responses, unknown_parts, original_arguments, .. } = card;
        let mut found = Vec::new();
        for json in [Some(arguments), responses.as_ref(), unknown_parts.as_ref(), original_arguments.as_ref()] {
            let _ = json.map(|json| redactor.json(json, &mut found));
        }
        // A text of several lines is shown line by line elsewhere.
        let lines: Vec<String> =
            found.iter().flat_map(|text| text.lines()).map(|line| line.trim().to_owned()).collect();
        let mut all = [found, lines].concat();
        all.retain(|one| one.len() >= SHORTEST);
        // Where one secret is a part of another, the longer one is replaced first.
        all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        Self(all)
    }
}

/// A card. `None`, as for all that follow, where it cannot be told without a secret.
pub fn card(redactor: &Redactor, secrets: &Secrets, card: &Snapshot) -> Option<Fit> {
    fit(redactor, secrets, |hider| {
        let card = Box::new(hider.card(card.clone()));
        Told::Held { card, withheld: hider.changed }
    })
}

pub fn hello(redactor: &Redactor, wrapper: &Wrapper, (host, user): (&str, &str)) -> Option<Fit> {
    fit(redactor, &Secrets::default(), |hider| {
        let Wrapper { server, session, pid, command, started, observe, at } = wrapper.clone();
        // As one list, so that what follows a secret's flag is replaced.
        let command = hider.json(&serde_json::to_string(&command).unwrap_or_default());
        let command = serde_json::from_str(&command).unwrap_or_else(|_| vec![command]);
        let wrapper = Wrapper { server, session, pid, command, started, observe, at };
        Told::Hello { wrapper, host: host.to_owned(), user: user.to_owned() }
    })
}

/// Anything else, every text of it.
pub fn all(redactor: &Redactor, secrets: &Secrets, told: &Told) -> Option<Fit> {
    fit(redactor, secrets, |hider| hider.all(told.clone()))
}

fn fit(redactor: &Redactor, secrets: &Secrets, make: impl Fn(&mut Hider<'_>) -> Told) -> Option<Fit> {
    ROOMS.into_iter().find_map(|room| {
        let mut hider = Hider { redactor, secrets: &secrets.0, room, changed: false, failed: false };
        let told = make(&mut hider);
        let said = serde_json::to_string(&told).ok()?;
        (!hider.failed && said.len() <= LONGEST_TOLD).then_some(Fit { told, said })
    })
}

struct Hider<'a> {
    redactor: &'a Redactor,
    secrets: &'a [String],
    room: Option<Room>,
    changed: bool,
    /// Something cannot be read any more with its secrets replaced.
    failed: bool,
}

impl Hider<'_> {
    fn card(&mut self, card: Snapshot) -> Snapshot {
        // Every field by name: a new one that is not looked at is a compile error.
        let Snapshot {
            ticket,
            server,
            method,
            result_of,
            tool,
            title,
            description,
            signature,
            identity,
            confidence,
            new,
            offer,
            content_type,
            evidence,
            disputed,
            hazards,
            effect,
            target,
            ruling,
            near,
            safe,
            arguments,
            responses,
            unknown_parts,
            readings,
            undeclared,
            digest,
            bytes,
            arrived,
            deadline,
            host,
            caller,
            danger,
            edited_from,
            original_arguments,
            facts,
            asked_again,
            runs_after,
            occurrence,
            earlier,
            silence,
            bare,
            signs,
        } = card;
        Snapshot {
            // What says which call it is, and what its signature covers, stays.
            ticket,
            server,
            result_of,
            digest,
            edited_from,
            runs_after,
            signs,
            // Our own words and numbers.
            identity,
            confidence,
            content_type,
            disputed,
            bytes,
            arrived,
            deadline,
            occurrence,
            bare,
            // JSON, whose keys name secrets.
            arguments: self.json(&arguments),
            responses: responses.map(|it| self.json(&it)),
            unknown_parts: unknown_parts.map(|it| self.json(&it)),
            original_arguments: original_arguments.map(|it| self.json(&it)),
            // Everything else may quote a call, a file or a server.
            method: self.all(method),
            tool: self.text(&tool),
            title: self.all(title),
            description: self.all(description),
            signature: self.all(signature),
            new: self.all(new),
            offer: self.all(offer),
            evidence: self.all(evidence),
            hazards: self.all(hazards),
            effect: self.text(&effect),
            target: self.all(target),
            ruling: self.all(ruling),
            near: self.all(near),
            safe: self.all(safe),
            readings: self.readings(readings),
            undeclared: self.all(undeclared),
            host: self.all(host),
            caller: self.all(caller),
            danger: self.all(danger),
            facts: self.all(facts),
            asked_again: self.all(asked_again),
            earlier: self.all(earlier),
            silence: self.all(silence),
        }
    }

    /// What was read of a text is told part by part, by places in the text: where that changes, they are no places any more.
    fn readings(&mut self, readings: Vec<Reading>) -> Vec<Reading> {
        let told = self.all(readings.clone());
        let keeps = |(was, is): (Reading, Reading)| if was == is { is } else { Reading { parts: Vec::new(), ..is } };
        readings.into_iter().zip(told).map(keeps).collect()
    }

    fn json(&mut self, json: &str) -> String {
        let hidden = self.redactor.json(json, &mut Vec::new()).into_owned();
        let mut told = self.without_known(&hidden).into_owned();
        if self.room.is_some() {
            told.clear();
            let _ = self.redactor.redact(&hidden, &mut told);
            told = self.without_known(&told).into_owned();
        }
        self.changed |= told != json;
        told
    }

    fn text(&mut self, text: &str) -> String {
        let known = self.without_known(text);
        let mut told = self.redactor.text(&known).into_owned();
        if let Some(Room { text: most, .. }) = self.room
            && told.len() > most
        {
            let bytes = told.len();
            told.truncate(told.floor_char_boundary(most));
            told.push_str(&format!("…[{bytes} bytes in all]"));
        }
        self.changed |= told != text;
        told
    }

    /// A text without the secrets that are known already.
    fn without_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.secrets.iter().filter(|secret| text.contains(secret.as_str()));
        found.fold(Cow::Borrowed(text), |text, secret| {
            Cow::Owned(text.replace(secret.as_str(), &self.redactor.mark(secret.as_bytes())))
        })
    }

    /// A value with all its texts looked at.
    fn all<T: Serialize + DeserializeOwned>(&mut self, value: T) -> T {
        let Ok(json) = serde_json::to_value(&value) else {
            self.failed = true;
            return value;
        };
        // A secret that is also a word of ours (`file`) cannot be hidden there, and is no news there.
        for ours in [Ours::AreReplaced, Ours::Stay] {
            let mut told = json.clone();
            self.walk(&mut told, ours);
            if let Ok(told) = serde_json::from_value(told) {
                return told;
            }
        }
        self.failed = true;
        value
    }

    fn walk(&mut self, value: &mut Value, ours: Ours) {
        match value {
            Value::String(text) => {
                let is_word = text.len() < 24 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase());
                if text.parse::<Digest>().is_err() && !(ours == Ours::Stay && is_word) {
                    *text = self.text(text);
                }
            }
            Value::Array(all) => {
                if let Some(Room { list, .. }) = self.room {
                    self.changed |= all.len() > list;
                    all.truncate(list);
                }
                all.iter_mut().for_each(|one| self.walk(one, ours));
            }
            Value::Object(fields) => fields.values_mut().for_each(|one| self.walk(one, ours)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// What becomes of texts that may be words of ours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ours {
    AreReplaced,
    Stay,
}

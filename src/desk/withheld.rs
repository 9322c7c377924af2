//! What a wrapper says, made fit to leave its machine: secrets replaced as the log replaces them, and what is too long cut. Pure.

use std::borrow::Cow;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::told::{LONGEST_TOLD, Told};
use crate::audit::redact::Redactor;
use crate::audit::repeats::{self, Known, Seen};
use crate::behavior::arguments::reading::Reading;
use crate::gate::data::snapshot::Snapshot;
use crate::link::message::Wrapper;
use crate::wire::Digest;

/// The fields of all these that are digests, which look like secrets.
const DIGESTS: [&str; 2] = ["definition", "digest"];
/// Those that say which card it is: without them it would never end for operators. A call can say what its own ticket will be.
const OURS: [&str; 3] = ["session", "statement", "ticket"];

/// How much work the secrets of one card may be: what is looked for, times the bytes of it that are looked through. A `desk run` serves all
/// wrappers of its user, and a stop must not wait for one card.
const MOST_WORK: usize = 64 << 20;

/// How much of each text and list is sent, the first that fits: all of it, then less and less.
const ROOMS: [Option<Room>; 3] = [None, Some(Room { text: 1024, list: 40 }), Some(Room { text: 64, list: 4 })];

#[derive(Clone, Copy)]
struct Room {
    text: usize,
    list: usize,
}

/// What is said of one thing, and it as its row has it.
pub struct Fit {
    pub told: Told,
    pub said: String,
}

/// The secrets of one call and those that its session has seen, which no text about it may say.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<Known>);

impl Secrets {
    /// Those in the arguments of a card, and in what else of it is JSON; `None` where they are too many to be looked for.
    pub fn of(redactor: &Redactor, card: &Snapshot, seen: &mut Seen) -> Option<Self> {
        let Snapshot { arguments, responses, unknown_parts, original_arguments, .. } = card;
        let (mut found, mut bytes) = (Vec::new(), 0);
        let all = [Some(arguments), responses.as_ref(), unknown_parts.as_ref(), original_arguments.as_ref()];
        for json in all.into_iter().flatten() {
            redactor.json(json, &[], &mut found);
            bytes += json.len();
        }
        seen.add(&found).ok()?;
        let mut all = [repeats::known(&found), seen.all()].concat();
        repeats::longest_first(&mut all);
        (all.len().saturating_mul(bytes) <= MOST_WORK).then_some(Self(all))
    }
}

/// A card. `None`, as for all that follow, where it cannot be told without a secret.
pub fn card(redactor: &Redactor, secrets: &Secrets, card: &Snapshot) -> Option<Fit> {
    fit(redactor, secrets, |hider| {
        let card = hider.card(card.clone());
        let card = if hider.changed { without_proof(redactor, card) } else { card };
        Told::Held { card: Box::new(card), withheld: hider.changed }
    })
}

/// What would confirm a guess of a secret to a reader who lacks only that: the digest of a file, and what makes the card's own digest
/// tell nothing. An approval of this card counts for nothing.
fn without_proof(redactor: &Redactor, mut card: Snapshot) -> Snapshot {
    let of_files = card.facts.iter_mut().filter_map(|one| one.digest.as_mut());
    of_files.for_each(|digest| *digest = redactor.key().of(digest.as_bytes()));
    card.salt = None;
    if let Some(offer) = &mut card.offer {
        offer.signs = None;
    }
    card
}

/// The secrets in the words of a command.
pub fn of_command(redactor: &Redactor, command: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let _ = redactor.json(&serde_json::to_string(command).unwrap_or_default(), &[], &mut found);
    found
}

pub fn hello(redactor: &Redactor, wrapper: &Wrapper, (host, user): (&str, &str)) -> Option<Fit> {
    fit(redactor, &Secrets::default(), |hider| {
        let Wrapper { server, session, pid, command, started, observe, at } = wrapper.clone();
        // As one list, so that what follows a secret's flag is replaced.
        let json = serde_json::to_string(&command).unwrap_or_default();
        let known = repeats::known(&of_command(redactor, &command));
        let command = Hider { secrets: &known, ..*hider }.json(&json);
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
        let mut hider =
            Hider { redactor, secrets: &secrets.0, but_words: &secrets.0, room, changed: false, failed: false };
        let told = make(&mut hider);
        let said = serde_json::to_string(&told).ok()?;
        (!hider.failed && said.len() <= LONGEST_TOLD).then_some(Fit { told, said })
    })
}

struct Hider<'a> {
    redactor: &'a Redactor,
    secrets: &'a [Known],
    /// Those of them that are replaced in what may be a word of ours, too.
    but_words: &'a [Known],
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
            salt,
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
            salt,
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

    /// What was read of a text is said part by part, by places in the text: where that changes, they are no places any more.
    fn readings(&mut self, readings: Vec<Reading>) -> Vec<Reading> {
        let told = self.all(readings.clone());
        let keeps = |(was, is): (Reading, Reading)| if was == is { is } else { Reading { parts: Vec::new(), ..is } };
        readings.into_iter().zip(told).map(keeps).collect()
    }

    fn json(&mut self, json: &str) -> String {
        let hidden = self.redactor.json(json, self.secrets, &mut Vec::new());
        let told = match self.room {
            None => hidden.into_owned(),
            Some(_) => {
                let mut told = String::new();
                let _ = self.redactor.redact(&hidden, &mut told);
                told
            }
        };
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
        let is_word = text.len() < 24 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase());
        let secrets = if is_word { self.but_words } else { self.secrets };
        self.redactor.without_parts(text, secrets)
    }

    /// A value with all its texts looked at.
    fn all<T: Serialize + DeserializeOwned>(&mut self, value: T) -> T {
        let Ok(json) = serde_json::to_value(&value) else {
            self.failed = true;
            return value;
        };
        let try_with = |hider: &mut Hider<'_>| {
            let mut told = json.clone();
            hider.walk(&mut told, "");
            serde_json::from_value(told).ok()
        };
        // A secret that is also a word of ours (`file`) cannot be hidden there, and is no news there. Only that one.
        let told: Option<T> = try_with(self).or_else(|| {
            let is_other = |secret: &&Known| {
                let one = std::slice::from_ref(*secret);
                try_with(&mut Hider { secrets: one, but_words: one, ..*self }).is_some()
            };
            let but_words: Vec<Known> = self.secrets.iter().filter(is_other).cloned().collect();
            let mut hider = Hider { but_words: &but_words, ..*self };
            let told = try_with(&mut hider);
            self.changed |= hider.changed;
            told
        });
        told.unwrap_or_else(|| {
            self.failed = true;
            value
        })
    }

    fn walk(&mut self, value: &mut Value, field: &str) {
        match value {
            Value::String(_) if OURS.contains(&field) => {}
            Value::String(text) if DIGESTS.contains(&field) && text.parse::<Digest>().is_ok() => {
                let told = self.without_known(text).into_owned();
                self.changed |= told != *text;
                *text = told;
            }
            Value::String(text) => *text = self.text(text),
            Value::Array(all) => {
                if let Some(Room { list, .. }) = self.room {
                    self.changed |= all.len() > list;
                    all.truncate(list);
                }
                all.iter_mut().for_each(|one| self.walk(one, ""));
            }
            Value::Object(fields) => fields.iter_mut().for_each(|(field, one)| self.walk(one, field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

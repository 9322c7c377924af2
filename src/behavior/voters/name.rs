//! Votes by the tool's name, and by the names of the acts that a parameter selects. Closed lists of reading and changing
//! verbs; a word on neither list is silent. A changing verb that is a verb in its place outweighs every reading one.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::{Says, Vote};
use crate::behavior::evidence::Source;
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{self, Form, among, section};
use crate::mcp::tool::Tool;
use crate::wire::words::words;

const WORDS: &str = include_str!("../../../assets/words/name.txt");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Reads(Action),
    Changes(Action),
}

impl Effect {
    /// The effect of an action of the taxonomy, in lower case.
    pub fn named(action: &str) -> Option<Self> {
        let action = Action::from_word(&action.to_ascii_uppercase())?;
        Some(if action.reads() { Self::Reads(action) } else { Self::Changes(action) })
    }
}

words! {
    /// Whether the word is surely a verb where one may be.
    Firmness {
        /// Hardly ever a noun: `delete`, `fetch`.
        Verb = "verb",
        /// A verb, though a noun of that form exists: `start`, `run`, `check`.
        Mostly = "mostly",
        /// As often a noun: `order`, `comment`, `report`.
        Either = "either",
    }
}

/// The verb of a name, and what it is done to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    pub says: Says,
    pub action: Option<Action>,
    /// The verb as written; empty where the name has none.
    pub verb: String,
    /// The words after the verb, else those before it.
    pub object: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct VerbSense {
    effect: Effect,
    firmness: Firmness,
}

struct KnownVerb {
    at: usize,
    known: VerbSense,
    form: Form,
}

/// What somebody at a screen does, which starts no program: moves or watches what is seen, or presses what may set off anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    Looks,
    Presses,
}

pub fn gesture(act: &Act) -> Option<Gesture> {
    let is_verb = |list| among(&act.verb, list);
    let watches = || act.object.iter().any(|word| among(word, const { section(WORDS, "watching") }));
    let looks = is_verb(const { section(WORDS, "looks") }) || is_verb("start stop") && watches();
    let gesture = if looks { Gesture::Looks } else { Gesture::Presses };
    (looks || is_verb(const { section(WORDS, "presses") })).then_some(gesture)
}

/// Votes by the name; an act that a parameter selects is a name too.
pub fn vote(tool: &Tool) -> Vote {
    let act = of_name(&words::of_name(&tool.name));
    let by = |says, action, span| Vote { voter: Source::Name, says, action, span };
    match selected(&tool.input_schema) {
        Some((action, choice)) if act.says != Says::Changes => by(Says::Changes, Some(action), choice),
        _ if act.says == Says::Silent => Vote { action: act.action, ..Vote::silent(Source::Name) },
        _ => by(act.says, act.action, act.verb),
    }
}

pub fn of_name(words: &[String]) -> Act {
    // A version says nothing: `list_orders_v1`.
    let versioned =
        |word: &&String| word.len() < 4 && word.trim_start_matches('v').bytes().all(|byte| byte.is_ascii_digit());
    let words = &words[..words.len() - words.iter().rev().take_while(versioned).count()];
    let verbs = found(words);
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let last = words.len().saturating_sub(1);
    let is_read = |v: &&KnownVerb| matches!(v.known.effect, Effect::Reads(_));
    if let Some(found) = question(words, &verbs).or_else(|| phrasal(words)).or_else(|| makes(words)) {
        return found;
    }
    let mut heads =
        verbs.iter().filter(is_read).filter(|v| v.form == Form::Base || (v.form == Form::Third && v.at == 0));
    // What is before a verb that is hardly ever a noun is a prefix or a thing: `slack_get_order`, `monitor_get`.
    let sure_head = heads.clone().find(|v| v.known.firmness == Firmness::Verb);
    let head = sure_head.or_else(|| heads.next());
    let mut changing: Vec<(Says, &KnownVerb)> = Vec::new();
    for v in verbs.iter().filter(|v| !is_read(v)) {
        match changes_here(words, v, head, sure_head) {
            says @ (Says::Changes | Says::Silent) => changing.push((says, v)),
            // A noun of that form: the verb is another word.
            Says::Reads | Says::MayRead => {}
        }
    }
    // `label_create`: of two, the one that is hardly a noun is the act.
    let grave = |firmly: bool| {
        let fits = move |(says, v): &&(Says, &KnownVerb)| {
            *says == Says::Changes && (!firmly || v.known.firmness == Firmness::Verb)
        };
        changing.iter().find(fits)
    };
    if let Some((says, v)) = grave(true).or_else(|| grave(false)).or(changing.first()) {
        return act(words, v, *says);
    }
    if let Some(v) = head {
        let object = &words[v.at + 1..];
        let end = object.iter().position(|word| among(word, AFTER)).unwrap_or(object.len());
        let of_things = object[..end].last().is_some_and(|word| is_thing(word));
        // A verb that may be a noun reads where it leads and something is there to be read, or where it ends the name.
        let says = match v.known.firmness {
            Firmness::Verb => Says::Reads,
            _ if v.at == last && v.at > 0 && is_thing(word(v.at - 1)) => Says::Reads,
            _ if v.at == 0 && v.form == Form::Base && of_things => Says::Reads,
            // `slack_list_channels`: hardly a list to which something is done.
            _ if of_things && v.form == Form::Base && among(word(v.at), "list search") => Says::Reads,
            _ if of_things || words.len() == 1 => Says::MayRead,
            _ => Says::Silent,
        };
        return act(words, v, says);
    }
    of_shape(words)
}

/// What a changing verb makes of the name: `Reads` where it is a noun there, `Silent` where both may be.
fn changes_here(words: &[String], v: &KnownVerb, head: Option<&KnownVerb>, sure_head: Option<&KnownVerb>) -> Says {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let previous = v.at.checked_sub(1).map_or("", word);
    let next = word(v.at + 1);
    let last = v.at + 1 == words.len();
    let firm = v.known.firmness == Firmness::Verb;
    let noun = v.known.firmness == Firmness::Either;
    match v.form {
        Form::Base => {}
        // `deletes_user`, but `list_updates`; `file_writer`, but `get_sender`.
        Form::Third | Form::Gerund if v.at == 0 && firm => return Says::Changes,
        Form::Third
            if firm
                && last
                && head.is_none_or(|head| {
                    head.known.firmness != Firmness::Verb && !among(word(head.at), "list search")
                }) =>
        {
            return Says::Changes;
        }
        Form::Agent if firm && last && head.is_none() => return Says::Silent,
        Form::Third | Form::Gerund | Form::Participle | Form::Agent => return Says::Reads,
    }
    const JOINS: &str = "and or then";
    if among(previous, JOINS) || among(next, JOINS) {
        return Says::Changes;
    }
    // `list_endpoints_by_tag`, `run_select_query`.
    if !firm && (among(previous, "by for of per in from") || (word(v.at) == "select" && among(next, "query queries"))) {
        return Says::Reads;
    }
    // `get_delete_policy`, `order_status`: what is known about the act.
    let about = among(next, ABOUT);
    if let Some(head) = sure_head {
        let after = head.at < v.at;
        let two_acts = v.at == 0 && head.at == 1 && words.len() > 2;
        return match (firm, after) {
            (true, true) if about => Says::Reads,
            (true, _) => Says::Changes,
            // `deploy_get_status` may be a thing and an act, or two acts.
            (false, false) if two_acts => Says::Silent,
            // `get_order`, `list_builds`; `order_get`, `run_get`. `mark_read` has no reading verb.
            (false, _) => Says::Reads,
        };
    }
    if among(word(v.at), "run execute perform do carry conduct make")
        && words[v.at + 1..].iter().any(|word| among(word, const { section(WORDS, "asked") }))
    {
        return Says::Silent;
    }
    if firm {
        return if about && v.at > 0 && head.is_some() { Says::Reads } else { Says::Changes };
    }
    match head {
        // `list_orders` has no singular: `list_order` is a thing and then an act, unless more follows.
        Some(head) if head.at < v.at => match (noun, last) {
            (false, true) => Says::Changes,
            (true, true) if among(word(head.at), "list") => Says::Changes,
            (true, true) => Says::Silent,
            (_, false) if about || is_thing(word(words.len() - 1)) => Says::Reads,
            (_, false) => Says::Silent,
        },
        // `comment_list`, `order_search`; but `update_list`, `start_search`.
        Some(head) if noun && head.at + 1 == words.len() => Says::Reads,
        // `model_eval_list_runs`, `file_share_list`: after a thing, the list is of the runs.
        Some(head) if v.at > 0 && head.at == v.at + 1 && word(head.at) == "list" => Says::Reads,
        // `mail_list_folders`, where nothing else could be listed.
        Some(head) if noun && among(word(head.at), "list") && is_thing(word(words.len() - 1)) => Says::Reads,
        Some(head) if noun && head.at == v.at + 1 && is_thing(word(words.len() - 1)) => Says::Silent,
        Some(_) if about => Says::Silent,
        Some(_) => Says::Changes,
        None if about || (noun && v.at > 0 && among(word(v.at), if last { KEPT } else { KINDS })) => Says::Silent,
        None if last && noun && among(previous, "latest last next current recent top my new open pending active") => {
            Says::Silent
        }
        None => Says::Changes,
    }
}

/// A name that asks: `is_valid`, `can_i_deploy`. What it asks about is not done.
fn question(words: &[String], verbs: &[KnownVerb]) -> Option<Act> {
    let at = words
        .iter()
        .take(3)
        .position(|word| among(word, "is has can does did are how what whats which where when who"))?;
    let asks = at + 1 < words.len() && verbs.iter().all(|v| v.at > at);
    asks.then(|| reads(words, at, Says::Reads))
}

/// `check_in`, `turn_off`: a verb that its particle makes a change.
fn phrasal(words: &[String]) -> Option<Act> {
    let at = words.windows(2).position(|pair| {
        among(&pair[0], "check log sign opt turn switch power roll shut clock tear hand")
            && among(&pair[1], "in out on off up down over")
    })?;
    let action = if among(&words[at], "turn switch power shut roll") { Action::Execute } else { Action::Update };
    let object = words[at + 2..].to_vec();
    Some(Act { says: Says::Changes, action: Some(action), verb: words[at..at + 2].join("_"), object })
}

/// `generate_image`: media are made and kept, or paid for; a text that is generated is the answer.
fn makes(words: &[String]) -> Option<Act> {
    let at = words.iter().position(|word| among(word, "generate produce synthesize render make to"))?;
    let object = &words[at + 1..];
    object.iter().any(|word| among(word, const { section(WORDS, "media") })).then(|| Act {
        says: Says::Changes,
        action: Some(Action::Create),
        verb: words[at].clone(),
        object: object.to_vec(),
    })
}

fn of_shape(words: &[String]) -> Act {
    match words.iter().rposition(|word| among(word, const { section(WORDS, "facts") }) || word == "nearby") {
        Some(at) if words[at] == "nearby" => Act { action: Some(Action::Search), ..reads(words, at, Says::MayRead) },
        Some(at) => reads(words, at, Says::MayRead),
        None => Act { says: Says::Silent, action: None, verb: String::new(), object: words.to_vec() },
    }
}

fn reads(words: &[String], at: usize, says: Says) -> Act {
    Act { says, action: Some(Action::Read), verb: words[at].clone(), object: words.to_vec() }
}

fn act(words: &[String], v: &KnownVerb, says: Says) -> Act {
    let (Effect::Reads(action) | Effect::Changes(action)) = v.known.effect;
    let after = &words[v.at + 1..];
    let bare = after.iter().all(|word| among(word, "tool v1 v2 v3 api"));
    let object = if bare { &words[..v.at] } else { after };
    Act { says, action: Some(action), verb: words[v.at].clone(), object: object.to_vec() }
}

fn found(words: &[String]) -> Vec<KnownVerb> {
    let at = |(at, word): (usize, &String)| {
        // "Read-only", "mark as read": how, not what.
        let word_before = at.checked_sub(1).and_then(|before| words.get(before)).map_or("", String::as_str);
        let says_how = word == "read"
            && (words.get(at + 1).is_some_and(|next| next == "only") || among(word_before, "mark as un is"));
        let (known, form) = words::base(word, known).filter(|_| !says_how)?;
        let is_request = word == "merge" && among(words::nth(words, at + 1), "request requests");
        let effect = if is_request { Effect::Changes(Action::Update) } else { known.effect };
        Some(KnownVerb { at, known: VerbSense { effect, ..known }, form })
    };
    words.iter().enumerate().filter_map(at).collect()
}

fn known(word: &str) -> Option<VerbSense> {
    if let Some(found) = VERBS.get(word) {
        return Some(*found);
    }
    if let Some((_, effect)) = stem(word) {
        return Some(VerbSense { effect, firmness: Firmness::Verb });
    }
    // `reassign`, `undeploy`, `bulkdelete`: a prefix makes no change harmless.
    const PREFIXES: &[&str] = &[
        "re", "un", "de", "dis", "auto", "bulk", "batch", "multi", "soft", "hard", "force", "mass", "over", "out",
        "pre", "mis",
    ];
    PREFIXES.iter().find_map(|prefix| {
        let rest = word.strip_prefix(prefix)?;
        let found = VERBS.get(rest).filter(|found| rest.len() > 3 && found.firmness != Firmness::Either)?;
        matches!(found.effect, Effect::Changes(_)).then_some(VerbSense { firmness: Firmness::Verb, ..*found })
    })
}

/// Whether a word is a thing: a plural, or a noun by its ending, or one of what is commonly read.
fn is_thing(word: &str) -> bool {
    let ends = ["tion", "sion", "ment", "ity", "ness", "ance", "ence", "ics", "ory", "logy", "ship", "age", "ies"];
    (word.len() > 3 && word.ends_with('s') && !word.ends_with("ss"))
        || ends.iter().any(|end| word.len() > end.len() + 2 && word.ends_with(end))
        || among(word, ABOUT)
        || among(word, const { section(WORDS, "things") })
}

/// What a value that names an act does, where this voter knows its verb: `get`, `purge_cache`.
pub fn effect(act_name: &str) -> Option<Effect> {
    let words = words::of_name(act_name);
    if let [word] = words.as_slice() {
        return known(word).map(|known| known.effect);
    }
    let act = of_name(&words);
    match act.says {
        Says::Reads => act.action.map(Effect::Reads),
        Says::Changes => act.action.map(Effect::Changes),
        Says::MayRead | Says::Silent => None,
    }
}

/// How surely a word is a verb that changes something; `None` where it is none.
pub fn change(word: &str) -> Option<Firmness> {
    known(word).filter(|known| matches!(known.effect, Effect::Changes(_))).map(|known| known.firmness)
}

/// A change that a parameter lets one select, and the choice.
fn selected(schema: &Value) -> Option<(Action, String)> {
    let properties = schema.get("properties")?.as_object()?;
    let must = |name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|must| must.iter().any(|key| key == name))
    };
    properties.iter().find_map(|(name, property)| {
        let plain = words::of_name(name).join("_");
        if !among(&plain, "action method operation op mode command http_method verb actions subcommand") {
            return None;
        }
        let choices = choices(property);
        let acts: Vec<Act> = choices.iter().map(|choice| of_name(&words::of_name(choice))).collect();
        let reading = acts.iter().any(|act| matches!(act.says, Says::Reads | Says::MayRead));
        let changing = acts.iter().zip(&choices).find(|(act, _)| act.says == Says::Changes);
        // An optional one that offers only changes is a filter: "events whose action is delete".
        let (act, choice) = changing.filter(|_| reading || must(name))?;
        Some((act.action?, format!("{name}: {choice}")))
    })
}

fn choices<'a>(property: &'a Value) -> Vec<&'a str> {
    let inner = property.get("items").unwrap_or(property);
    // A list of acts, each an object that names its own: `{ type: "click" }`.
    let named = |of: &'a Value| ["type", "action"].iter().find_map(|key| of.get("properties")?.get(*key));
    let inner = named(inner).unwrap_or(inner);
    let listed = inner.get("enum").and_then(Value::as_array).into_iter().flatten();
    let branches = ["oneOf", "anyOf"].iter().filter_map(|key| inner.get(*key)).filter_map(Value::as_array).flatten();
    let consts = branches.clone().filter_map(|branch| branch.get("const"));
    let nested = branches.filter_map(|branch| branch.get("enum")).filter_map(Value::as_array).flatten();
    listed.chain(consts).chain(nested).filter_map(Value::as_str).take(64).collect()
}

/// Rows `ACTION FIRMNESS WORDS…`; later rows win over earlier ones.
static VERBS: LazyLock<HashMap<&'static str, VerbSense>> = LazyLock::new(|| {
    let row = |(action, row): (&str, &'static str)| {
        let (firmness, words) = row.split_once(' ')?;
        let known = VerbSense { effect: Effect::named(action)?, firmness: Firmness::from_word(firmness)? };
        Some(words.split_whitespace().map(move |base| (base, known)))
    };
    words::rows(section(WORDS, "verbs")).filter_map(row).flatten().collect()
});

/// The stem of a verb that a word begins with, in a script whose words no space separates, or whose ends we do not cut.
pub(super) fn stem(word: &str) -> Option<(&'static str, Effect)> {
    if word.is_ascii() {
        return None;
    }
    words::rows(const { section(WORDS, "stems") }).find_map(|(action, stems)| {
        Some((stems.split_whitespace().find(|stem| word.starts_with(stem))?, Effect::named(action)?))
    })
}

/// Words for what is known about a thing or an act: after a verb, they make a noun of it (`get_delete_policy`).
const ABOUT: &str = section(WORDS, "about");
const AFTER: &str = "by for in from with to on of at as into via";
/// Verbs that are nouns at the end of a name: `git_log`, `page_index`.
const KEPT: &str = "log branch index page cache clip note stage record map type report credit rate group plant";
/// Verbs that are nouns before another thing: `vendor_rate_card`.
const KINDS: &str = "credit rate group plant index page";

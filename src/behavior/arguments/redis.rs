//! Redis commands in arguments: an allow list of those that read. Knows no keyspace.

use super::effect::{Effect, Meaning};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{among, section};

const WORDS: &str = include_str!("../../../assets/words/redis.txt");

/// What one command would do, given as its words.
pub fn read(words: &[&str]) -> Meaning {
    let upper = |at: usize| words.get(at).map(|word| word.to_ascii_uppercase()).unwrap_or_default();
    let (name, sub) = (upper(0), upper(1));
    // A line end in a word ends the command for whoever joins the words.
    if words.iter().any(|word| word.contains(char::is_control)) {
        return Meaning::unknown(name, "a Redis command with control characters");
    }
    let pair = format!("{name} {sub}");
    // The name and the key: what is set may be a secret.
    let span = words.iter().take(2).copied().collect::<Vec<_>>().join(" ");
    let on = if sub.is_empty() { name.clone() } else { format!("{name} on {}", words[1]) };
    if name.is_empty() {
        return Meaning::unknown(span, "no command");
    }
    if among(&name, const { section(WORDS, "reads") }) {
        return Meaning::reads(span, on);
    }
    if PAIRS.contains(&pair.as_str()) {
        return Meaning::reads(span, pair);
    }
    if among(&name, const { section(WORDS, "deletes") }) {
        let says = if name.starts_with("FLUSH") { format!("{name} removes every key") } else { on };
        return Meaning::new(Effect::Write, Action::Delete, span, says);
    }
    if among(&name, const { section(WORDS, "writes") }) {
        return Meaning::new(Effect::Write, Action::Update, span, on);
    }
    if among(&name, RUNS) {
        return Meaning::runs(span, format!("{name} runs code in Redis"));
    }
    if among(&name, const { section(WORDS, "administers") }) {
        return Meaning::new(Effect::Administer, Action::Execute, span, pair.trim_end().to_owned());
    }
    Meaning::unknown(span, format!("{name}, an unknown Redis command"))
}

/// The words of a command line, quotes taken off; `None` where it may be several, or its quotes do not close.
pub fn words(text: &str) -> Option<Vec<String>> {
    if text.trim().contains(['\n', '\r']) {
        return None;
    }
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for c in text.chars() {
        match (c, quote) {
            ('\\', _) => return None,
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => (quote, begun) = (Some(c), true),
            (c, None) if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (c, _) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    quote.is_none().then_some(words)
}

const PAIRS: &[&str] = &[
    "CONFIG GET", "CLIENT LIST", "CLIENT INFO", "CLIENT GETNAME", "CLIENT ID", "MEMORY USAGE", "MEMORY STATS",
    "OBJECT ENCODING", "OBJECT FREQ", "OBJECT IDLETIME", "OBJECT REFCOUNT", "SLOWLOG GET", "SLOWLOG LEN",
    "XINFO STREAM", "XINFO GROUPS", "XINFO CONSUMERS", "COMMAND COUNT", "COMMAND LIST", "COMMAND DOCS", "COMMAND INFO",
    "CLUSTER INFO", "CLUSTER NODES", "CLUSTER SLOTS", "CLUSTER SHARDS", "ACL WHOAMI", "ACL CAT", "LATENCY LATEST",
    "LATENCY HISTORY", "MODULE LIST", "PUBSUB CHANNELS", "PUBSUB NUMSUB", "FUNCTION LIST", "SCRIPT EXISTS",
];

const RUNS: &str = "EVAL EVALSHA EVAL_RO EVALSHA_RO FCALL FCALL_RO SCRIPT FUNCTION MODULE";

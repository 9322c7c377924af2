//! A record as it is read back: its number, its link, and the fields of its body. All of it may be foreign text.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::chain::{self, Origin, Row, Writer};
use super::record::{By, Kind, Outcome, RefusedLines, VerdictWord};
use super::redact::push_string;
use crate::wire::{Digest, words::words};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub seq: i64,
    /// `None` if the stored link has not the form of one.
    pub link: Option<Digest>,
    pub body: String,
    /// Where it is from, in a log that has those of many machines.
    pub origin: Option<Origin>,
}

#[derive(Debug, Deserialize)]
pub struct Fields<'a> {
    #[serde(borrow)]
    pub time: Cow<'a, str>,
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
    #[serde(borrow)]
    pub server: Cow<'a, str>,
    #[serde(borrow)]
    pub session: Cow<'a, str>,
    pub ticket: Option<String>,
    pub tool: Option<String>,
    /// What a call acts on; older records do not say.
    pub target: Option<String>,
    pub badge: Option<String>,
    pub identity: Option<String>,
    pub ruling: Option<String>,
    pub verdict: Option<String>,
    pub by: Option<String>,
    pub rule: Option<String>,
    pub digest: Option<String>,
    #[serde(borrow)]
    pub latency_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub cut: Option<&'a RawValue>,
    pub assurance: Option<String>,
    pub policy: Option<String>,
    #[serde(borrow)]
    pub detail: Option<&'a RawValue>,
    /// Whose record it is, in a log that has those of many machines: no body says it.
    #[serde(skip)]
    pub machine: Option<&'a str>,
}

/// The fields whose values are texts, in the order of a body.
pub const TEXTS: [&str; 14] = [
    "time", "kind", "server", "session", "ticket", "tool", "target", "badge", "identity", "ruling", "verdict", "by",
    "rule", "digest",
];

words! {
    /// A field that a search can name.
    Field {
        Server = "server",
        Session = "session",
        Ticket = "ticket",
        Tool = "tool",
        /// What a call acts on.
        Target = "target",
        Kind = "kind",
        Badge = "badge",
        Ruling = "ruling",
        Verdict = "verdict",
        By = "by",
        Rule = "rule",
        /// The person who decided.
        Operator = "operator",
        Reason = "reason",
        /// Who asked within the host: agent, sub-agent, user.
        Agent = "agent",
        /// What a call belongs to, as its host says.
        Context = "context",
        Trace = "trace",
        /// The prompt that several calls answer.
        Turn = "turn",
        /// On a desk of many machines: which of them.
        Machine = "machine",
        User = "user",
    }
}

/// The fields that many records have in common, and that the index keeps together.
pub const IN_SHAPE: [Field; 8] =
    [Field::Server, Field::Tool, Field::Kind, Field::Badge, Field::Ruling, Field::Verdict, Field::By, Field::Rule];

impl Field {
    pub fn is_in_shape(self) -> bool {
        IN_SHAPE.contains(&self)
    }
}

/// Which call a record is of, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Call {
    /// [`number_of`] its session.
    pub session: i64,
    /// [`number_of`] its ticket in lower case.
    pub ticket: Option<i64>,
}

/// What the details of a decision say of how the call was judged.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct JudgedDetail {
    /// `MUTATES|CREATE|ACK`.
    pub words: String,
    /// The method of a request other than `tools/call`.
    pub method: Option<String>,
    /// How sure it was that a PURE tool only reads; empty in old records.
    pub confidence: String,
    pub evidence: Vec<String>,
    pub hazards: Vec<HazardDetail>,
    pub disputed: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct HazardDetail {
    pub hazard: String,
    pub what: String,
}

/// The details of an outcome or a fault that counts need.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CountedDetail<'a> {
    #[serde(borrow)]
    result: Option<Cow<'a, str>>,
    #[serde(borrow)]
    what: Option<Cow<'a, str>>,
    lines: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallerDetail {
    caller: Option<Value>,
    traceparent: Option<String>,
}

/// Who decided, and why, as details tell.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Why<'a> {
    #[serde(borrow)]
    pub operator: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub reason: Option<Cow<'a, str>>,
}

impl Call {
    pub fn of(session: &str, ticket: Option<&str>) -> Self {
        Self { session: number_of(session), ticket: ticket.map(|ticket| number_of(&ticket.to_lowercase())) }
    }
}

impl Record {
    pub fn new(row: &Row<'_>) -> Self {
        Self {
            seq: row.seq,
            link: <[u8; 32]>::try_from(row.link).ok().map(Digest::from_bytes),
            body: String::from_utf8_lossy(row.body).into_owned(),
            origin: row.origin.cloned(),
        }
    }

    /// The body's fields; `None` when it is not a body.
    pub fn fields(&self) -> Option<Fields<'_>> {
        let fields = Fields::of(self.body.as_bytes())?;
        Some(Fields { machine: self.machine(), ..fields })
    }

    pub fn machine(&self) -> Option<&str> {
        self.origin.as_ref().map(|origin| &*origin.machine)
    }

    /// One JSON object: the body with `seq` before it, of many machines with `place` and `machine` as well, where `seq` is the number in
    /// the machine's own log. What is no body becomes a text, `unreadable`.
    pub fn json(&self) -> String {
        let seq = match &self.origin {
            None => self.seq.to_string(),
            Some(Origin { machine, seq }) => {
                let mut text = format!("{seq},\"place\":{},\"machine\":", self.seq);
                push_string(&mut text, machine);
                text
            }
        };
        // A body is one line; anything else is not of our making.
        let is_json =
            serde_json::from_str::<IgnoredAny>(&self.body).is_ok() && self.body.bytes().all(|byte| byte >= 0x20);
        match self.body.strip_prefix('{') {
            Some(rest) if is_json && !rest.trim_start().starts_with('}') => {
                format!("{{\"seq\":{seq},{rest}")
            }
            _ => {
                let mut text = format!("{{\"seq\":{seq},\"unreadable\":");
                push_string(&mut text, &self.body);
                text.push('}');
                text
            }
        }
    }
}

impl<'a> Fields<'a> {
    pub fn of(body: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }

    pub fn of_row(row: &Row<'a>) -> Option<Self> {
        Some(Self { machine: row.machine(), ..Self::of(row.body)? })
    }
}

impl Fields<'_> {
    pub fn texts(&self) -> [Option<&str>; TEXTS.len()] {
        TEXTS.map(|name| self.named(name))
    }

    /// The value of one of [`TEXTS`].
    fn named(&self, name: &str) -> Option<&str> {
        match name {
            "time" => Some(&self.time),
            "kind" => Some(&self.kind),
            "server" => Some(&self.server),
            "session" => Some(&self.session),
            "ticket" => self.ticket.as_deref(),
            "tool" => self.tool.as_deref(),
            "target" => self.target.as_deref(),
            "badge" => self.badge.as_deref(),
            "identity" => self.identity.as_deref(),
            "ruling" => self.ruling.as_deref(),
            "verdict" => self.verdict.as_deref(),
            "by" => self.by.as_deref(),
            "rule" => self.rule.as_deref(),
            "digest" => self.digest.as_deref(),
            _ => None,
        }
    }

    /// `None` for a kind that this program does not know.
    pub fn kind(&self) -> Option<Kind> {
        self.kind.parse().ok()
    }

    pub fn verdict(&self) -> Option<VerdictWord> {
        self.verdict.as_deref()?.parse().ok()
    }

    pub fn by(&self) -> Option<By> {
        self.by.as_deref()?.parse().ok()
    }

    /// The time in milliseconds since 1970, UTC.
    pub fn millis(&self) -> Option<i64> {
        self.time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
    }

    pub fn latency_us(&self) -> Option<u64> {
        let (whole, part) = self.latency_ms?.get().split_once('.')?;
        let part: u64 = part.get(..3)?.parse().ok()?;
        whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(part)
    }

    pub fn detail<'d, T: Deserialize<'d>>(&'d self) -> Option<T> {
        serde_json::from_str(self.detail?.get()).ok()
    }

    /// How a forwarded call was answered, where details tell.
    pub fn outcome(&self) -> Option<Outcome> {
        self.detail::<CountedDetail<'_>>()?.result?.parse().ok()
    }

    /// How many lines of a host a fault says were refused.
    pub fn refused_lines(&self) -> u64 {
        let detail = self.detail::<CountedDetail<'_>>().unwrap_or_default();
        match detail.what.and_then(|what| what.parse().ok()) {
            Some(RefusedLines::One) => 1,
            Some(RefusedLines::More) => detail.lines.unwrap_or(0),
            None => 0,
        }
    }

    /// Whether it is about a result that a rule asks about, and not about a call.
    pub fn is_of_result(&self) -> bool {
        // In no text within: its quotes would be escaped.
        self.detail.is_some_and(|detail| detail.get().contains(r#""method":"result""#))
    }

    pub fn call(&self) -> Call {
        match self.machine {
            None => Call::of(&self.session, self.ticket.as_deref()),
            // No machine can give its records out as those of another's call.
            Some(machine) => Call::of(&format!("{machine}\0{}", self.session), self.ticket.as_deref()),
        }
    }

    /// The text of a field that a search can name.
    pub fn text(&self, field: Field) -> Option<Cow<'_, str>> {
        match field {
            Field::Machine => self.machine.map(Cow::Borrowed),
            Field::Operator => self.why().operator,
            Field::Reason => self.why().reason,
            Field::Agent => self.agent().map(Cow::Owned),
            Field::Context | Field::Trace | Field::Turn => self.belongs_to(field).map(Cow::Owned),
            _ => self.named(field.word()).map(Cow::Borrowed),
        }
    }

    /// Agent, sub-agent and user, with slashes between them; what the host did not name is left out.
    fn agent(&self) -> Option<String> {
        let caller = self.detail::<CallerDetail>()?.caller?;
        let named = ["agent", "sub-agent", "user"].map(|word| caller.get(word).and_then(Value::as_str));
        let named: Vec<&str> = named.into_iter().flatten().collect();
        (!named.is_empty()).then(|| named.join("/"))
    }

    /// The trace is also that of a `traceparent`.
    fn belongs_to(&self, field: Field) -> Option<String> {
        let CallerDetail { caller, traceparent } = self.detail()?;
        let said = caller.as_ref().and_then(|caller| caller.get(field.word())).and_then(Value::as_str);
        let trace = || traceparent.as_deref().filter(|_| field == Field::Trace)?.split('-').nth(1).map(str::to_owned);
        said.map(str::to_owned).or_else(trace)
    }

    /// The journal in which a session goes on, as it says of itself.
    pub fn next_journal(&self) -> Option<Writer> {
        #[derive(Deserialize)]
        struct Detail {
            journal: String,
        }
        let named = chain::named(&self.detail::<Detail>()?.journal)?;
        chain::is_of(&named, &self.session).then_some(named)
    }

    pub fn why(&self) -> Why<'_> {
        self.detail().unwrap_or_default()
    }
}

/// What a record says of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionTurn {
    Start,
    /// It goes on in another journal.
    GoesOn,
    End,
    /// Its end is lost, and an operator has acknowledged that.
    Lost,
}

/// Whether a body is of the start or end of a session, of its next journal, or of a lost end.
pub fn session_turn(body: &[u8]) -> Option<SessionTurn> {
    let kind = kind_of(body)?.strip_prefix(b"server-")?;
    if kind.starts_with(b"start\"") {
        Some(SessionTurn::Start)
    } else if kind.starts_with(b"end\"") {
        Some(SessionTurn::End)
    } else if kind.starts_with(b"journal\"") {
        Some(SessionTurn::GoesOn)
    } else if kind.starts_with(b"lost\"") {
        Some(SessionTurn::Lost)
    } else {
        None
    }
}

/// What follows the opening quote of a body's kind: quickly, because every record is asked.
pub fn kind_of(body: &[u8]) -> Option<&[u8]> {
    const TIME: usize = r#"{"time":"2026-11-21T10:00:00.000Z""#.len();
    body.get(TIME..)?.strip_prefix(br#","kind":""#)
}

/// By what the latest record of what was removed is looked up.
pub fn removed_key() -> Digest {
    Digest::of(b"mcp-approve audit log, what was removed")
}

/// By which digest a record is looked up, if it is: an agreement, a text, what was removed.
pub fn looked_up_by(body: &[u8]) -> Option<Digest> {
    // Of most records only the beginning is read: time and kind.
    let kind = kind_of(body)?;
    let is = |one: Kind| kind.strip_prefix(one.word().as_bytes()).is_some_and(|rest| rest.starts_with(b"\""));
    if is(Kind::Removed) {
        return Some(removed_key());
    }
    if is(Kind::Agreed) || is(Kind::Text) { Fields::of(body)?.digest?.parse().ok() } else { None }
}

/// A number for a text, the same in every version (FNV-1a, 64 bits).
pub fn number_of(text: &str) -> i64 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash.cast_signed()
}

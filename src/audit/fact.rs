//! What counts need of a record: when, for which call, and what happened. Pure; counts nothing.

use super::fields::{Call, Fields};
use super::record::{By, Kind, Outcome, VerdictWord};
use crate::behavior::taxonomy::Badge;

/// What counts need of a record.
#[derive(Clone, Copy, Debug)]
pub struct Fact<'a> {
    /// Milliseconds since 1970, UTC.
    pub time: Option<i64>,
    pub server: &'a str,
    pub session: &'a str,
    pub tool: Option<&'a str>,
    pub call: Call,
    pub what: What<'a>,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// A call was put before an operator.
    Asked {
        judged: Option<&'a str>,
    },
    Decided(Decided<'a>),
    /// A call ended before, or instead of, its verdict.
    Withdrawn,
    Answered {
        outcome: Option<Outcome>,
        latency_us: Option<u64>,
    },
    /// Lines of a host were no acceptable message.
    Refused {
        lines: u64,
    },
    ServerStart,
    ServerEnd,
    Other,
}

/// A decision.
#[derive(Clone, Copy, Debug)]
pub struct Decided<'a> {
    pub verdict: Option<VerdictWord>,
    pub by: Option<By>,
    pub rule: Option<&'a str>,
    pub latency_us: Option<u64>,
    pub badge: Option<Badge>,
    pub identity: Option<&'a str>,
    /// The details that say how the call was judged, as JSON; `None` where another record has them.
    pub judged: Option<&'a str>,
}

impl<'a> Fact<'a> {
    /// The fact of a record.
    pub fn of(fields: &'a Fields<'_>) -> Self {
        Self {
            time: fields.millis(),
            server: &fields.server,
            session: &fields.session,
            tool: fields.tool.as_deref(),
            call: fields.call(),
            what: What::of(fields),
        }
    }
}

impl<'a> What<'a> {
    fn of(fields: &'a Fields<'_>) -> Self {
        // Only a call's first record says how it was judged.
        let judged = || fields.detail.map(|detail| detail.get()).filter(|json| json.contains("\"evidence\""));
        match fields.kind() {
            Some(Kind::DecisionAsked) => Self::Asked { judged: judged() },
            Some(Kind::Decision) => Self::Decided(Decided {
                verdict: fields.verdict(),
                by: fields.by(),
                rule: fields.rule.as_deref(),
                latency_us: fields.latency_us(),
                badge: fields.badge.as_deref().and_then(Badge::from_word),
                identity: fields.identity.as_deref(),
                judged: judged(),
            }),
            Some(Kind::Withdrawn) => Self::Withdrawn,
            Some(Kind::Outcome) => Self::Answered { outcome: fields.outcome(), latency_us: fields.latency_us() },
            Some(Kind::Fault) => Self::Refused { lines: fields.refused_lines() },
            Some(Kind::ServerStart) => Self::ServerStart,
            Some(Kind::ServerEnd) => Self::ServerEnd,
            _ => Self::Other,
        }
    }
}

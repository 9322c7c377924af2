//! What a record says of an agreement: that the operator agreed to something, or that it no longer holds. Pure.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::fields::Fields;
use super::record::{Entry, Kind};
use crate::behavior::agreed::Agreement;
use crate::signing::change::time_of;
use crate::signing::grade::Grade;
use crate::signing::statement::{Evidence, Kept};
use crate::wire::digest::Digest;

/// What the latest record of an agreement says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    Agreed,
    TakenBack,
}

/// The latest record of an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latest {
    pub says: Says,
    /// The signature that it was agreed to with, not checked.
    pub signed: Option<Evidence>,
    /// Whose set of a team it was taken from.
    pub team: Option<String>,
}

/// Completes an entry of [`Kind::Agreed`]: what was agreed to.
pub fn agreed(mut entry: Entry, agreement: &Agreement, fingerprint: &str) -> Entry {
    entry.tool = (!agreement.tool.is_empty()).then(|| agreement.tool.as_str().into());
    entry.digest = Some(agreement.digest(fingerprint));
    entry.with("agreed", agreement).with("says", agreement.says())
}

/// The same for what no longer holds, and why.
pub fn taken_back(entry: Entry, agreement: &Agreement, fingerprint: &str, why: &str) -> Entry {
    agreed(entry, agreement, fingerprint).with("taken_back", true).with("why", why)
}

/// The entry that says again what the record `seq` with this body said, because that record goes.
pub fn sealed_anew(now: i64, seq: u64, body: &str) -> Option<Entry> {
    const KEPT: [&str; 4] = ["agreed", "says", "operator", "fingerprint"];
    let fields = Fields::of(body.as_bytes())?;
    let mut entry = Entry::new(now, Kind::Agreed, &(&*fields.server).into(), &(&*fields.session).into());
    entry.tool = fields.tool.as_deref().map(Into::into);
    entry.digest = fields.digest.as_deref()?.parse().ok();
    let detail: Map<String, Value> = fields.detail()?;
    for name in KEPT {
        entry.add(name, detail.get(name));
    }
    if let Some(signatures) = detail.get("signatures") {
        entry.uncut.add("signatures", signatures);
    }
    if let Some(from) = detail.get("from_team") {
        entry.uncut.add("from_team", from);
    }
    entry.assurance = fields.assurance.as_deref().and_then(Grade::from_word).unwrap_or_default();
    Some(entry.with("since", fields.time).with("was_record", seq))
}

/// The latest record of an agreement, if its body is about that.
pub fn latest(body: &str, digest: &Digest) -> Option<Latest> {
    #[derive(Default, Deserialize)]
    struct Detail {
        #[serde(default)]
        signatures: Vec<Kept>,
        from_team: Option<Team>,
    }
    #[derive(Deserialize)]
    struct Team {
        signer: String,
    }
    let Said { says, .. } = read(body).filter(|said| said.digest == *digest)?;
    let Detail { signatures, from_team } = Fields::of(body.as_bytes())?.detail().unwrap_or_default();
    Some(Latest { says, signed: signatures.first().map(Kept::evidence), team: from_team.map(|team| team.signer) })
}

/// What a record says of which agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// Of the agreement.
    pub digest: Digest,
    pub says: Says,
    /// When the signature on it was made, by its statement, which is not checked.
    signed: Option<i64>,
    /// The latest moment at which it was taken back so far, by the records' own times; milliseconds since 1970, UTC.
    back: Option<i64>,
}

impl Said {
    /// This as the last word on its agreement, after `before`, the last so far. `None`: it agrees with a signature that is not
    /// newer than what took it back, so it is a copy.
    pub fn after(mut self, before: Option<&Self>) -> Option<Self> {
        let back = before.and_then(|before| before.back);
        let is_copy = self.says == Says::Agreed && self.signed.zip(back).is_some_and(|(signed, back)| signed <= back);
        self.back = self.back.max(back);
        (!is_copy).then_some(self)
    }
}

/// What a body says of which agreement; `None` if it is about none.
pub fn read(body: &str) -> Option<Said> {
    #[derive(Default, Deserialize)]
    struct Detail {
        #[serde(default)]
        taken_back: bool,
        #[serde(default)]
        signatures: Vec<Kept>,
    }
    // Of most records only the beginning is read: time and kind.
    let (_, rest) = body.split_once(r#","kind":""#)?;
    rest.strip_prefix(Kind::Agreed.word())?.strip_prefix('"')?;
    let fields = Fields::of(body.as_bytes())?;
    let Detail { taken_back, signatures } = fields.detail().unwrap_or_default();
    Some(Said {
        digest: fields.digest.as_deref()?.parse().ok()?,
        says: if taken_back { Says::TakenBack } else { Says::Agreed },
        back: fields.millis().filter(|_| taken_back),
        signed: signatures.first().and_then(|kept| time_of(&kept.statement)),
    })
}

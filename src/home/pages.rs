//! The pages of the servers that are remembered, and what the operator answers on one: recorded first, then kept.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use crate::audit::{Entry, Fields, Kind, ReadOrder, Reader, StoreError, VerdictWord, chain};
use crate::behavior::curated::{self, Reviewed};
use crate::behavior::{Agreement, Agreements, Behavior, Confidence};
use crate::gate::data::pin::{PinState, Pinning};
use crate::home::agreed::{self, AgreedError, Known, record_all};
use crate::home::places::Places;
use crate::home::{config, policy_file, user};
use crate::pins::page::{self, Offer, Page, Seen};
use crate::pins::reading::{Applied, StoredTool};
use crate::pins::{Launch, PinStore};
use crate::policy::{rule::FirstUse, rules_name};
use crate::signing::change::Proof;
use crate::wire::{Digest, counted};

/// What calls were seen to ask about, by the server's name in rules.
pub type SeenOf = BTreeMap<String, Seen>;

/// The page of each server of these tools, in their order; `known` is what is agreed to.
pub fn of(tools: &[StoredTool], known: &[Known], first_use: FirstUse, seen: &SeenOf) -> Vec<Page> {
    let of_server = tools.chunk_by(|one, other| {
        (&one.server.name, &one.server.fingerprint) == (&other.server.name, &other.server.fingerprint)
    });
    of_server
        .map(|tools| {
            let server = &tools[0].server;
            let is_its = |one: &&Known| {
                one.trouble().is_none() && [&server.fingerprint, ""].contains(&one.kept.fingerprint.as_str())
            };
            let agreed: Agreements = known.iter().filter(is_its).map(|one| one.kept.agreement.clone()).collect();
            let tools: Vec<page::Known<'_>> = tools.iter().map(page::Known::from).collect();
            let folder = |word: &&String| word.starts_with('/') && Path::new(word).is_dir();
            let folders: Vec<String> = server.words.iter().skip(1).filter(folder).cloned().collect();
            let none = Seen::new();
            let seen = seen.get(rules_name(&server.name)).unwrap_or(&none);
            Page::of((&server.name, &server.fingerprint), first_use, &tools, &agreed, &folders, seen)
        })
        .collect()
}

pub fn all(store: &PinStore, places: &Places, seen: &SeenOf, now: i64) -> Result<Vec<Page>, AgreedError> {
    Ok(of(&store.tools()?, &agreed::all(store, places, now)?, first_use(places), seen))
}

/// The page of a server that never ran, by our list of well-known servers; `None` where it is not on it.
pub fn of_list(launch: &Launch, first_use: FirstUse) -> Option<Page> {
    let tools = curated::tools(launch.package.as_deref()?);
    let concluded = |reviewed: &Reviewed| Behavior {
        identity: reviewed.identity,
        confidence: Confidence::Proven,
        evidence: Arc::new(vec![reviewed.evidence()]),
        ..Behavior::unknown()
    };
    let behaviors: Vec<Behavior> = tools.iter().map(|(.., reviewed)| concluded(reviewed)).collect();
    let known = tools.iter().zip(&behaviors).map(|((name, digest, _), behavior)| page::Known {
        name,
        digest: *digest,
        pin_state: PinState::Trusted,
        behavior,
        definition: None,
    });
    let (server, none) = ((launch.name.as_str(), launch.fingerprint.to_string()), Agreements::default());
    let page = Page::of((server.0, &server.1), first_use, &known.collect::<Vec<_>>(), &none, &[], &Seen::new());
    page.is_open().then_some(page)
}

/// What the policies say of proven tools that nobody has answered for: the strictest of them.
pub fn first_use(places: &Places) -> FirstUse {
    let files = config::policies(places).unwrap_or_default();
    let all = files.iter().filter_map(|file| policy_file::load(file).ok()).map(|policy| policy.defaults.first_use);
    all.max().unwrap_or(FirstUse::Allow)
}

/// What the log saw calls ask about that ran: under `--observe`, or because an operator approved them.
pub fn seen(places: &Places) -> Result<SeenOf, StoreError> {
    #[derive(Deserialize)]
    struct Detail {
        new: Option<Vec<Agreement>>,
    }
    let log = config::audit_db(places).unwrap_or_else(|_| places.audit_db());
    let mut all = SeenOf::new();
    let Some(reader) = Reader::open(&log)? else { return Ok(all) };
    let mut each = |row: chain::Row<'_>| {
        // Most records say nothing of the kind, and their details are not read.
        if let Some(fields) = Fields::of(row.body)
            && fields.detail.is_some_and(|detail| detail.get().contains(r#""new":["#))
            && fields.verdict.as_deref() == Some(VerdictWord::Approve.word())
            && let Some(Detail { new: Some(new) }) = fields.detail()
        {
            let seen = all.entry(rules_name(&fields.server).to_owned()).or_default();
            new.into_iter().filter(|one| one.check().is_ok()).for_each(|one| *seen.entry(one).or_default() += 1);
        }
        ControlFlow::Continue(())
    };
    reader.each(ReadOrder::OldestFirst, &mut each)?;
    Ok(all)
}

/// What these lines settle: what is agreed to, and what is said of definitions.
fn settles<'p>(page: &'p Page, lines: &[usize]) -> (Vec<&'p Agreement>, Vec<&'p Pinning>) {
    let (mut agreed, mut words) = (Vec::new(), Vec::new());
    for line in lines.iter().filter_map(|at| page.lines.get(*at)) {
        match &line.offer {
            Offer::Agree(one) => agreed.push(one),
            Offer::Reads(one) => words.push(one),
            Offer::Nothing | Offer::Agreed => {}
        }
    }
    (agreed, words)
}

/// The digests that a signature on these lines covers.
pub fn digests(page: &Page, lines: &[usize]) -> Vec<Digest> {
    let (agreed, words) = settles(page, lines);
    let words = words.into_iter().map(|one| one.agreement().digest(&page.fingerprint));
    agreed.into_iter().map(|one| one.digest(&page.fingerprint)).chain(words).collect()
}

/// Agrees to these lines of a page; returns what was done, in words, and what was agreed to.
/// Errors: it could not be recorded, and nothing was kept; or it could not be kept, and does not count.
pub fn answer(
    store: &mut PinStore,
    places: &Places,
    page: &Page,
    lines: &[usize],
    proof: &Proof,
    now: i64,
) -> Result<(String, Vec<Agreement>), AgreedError> {
    let Page { server, fingerprint, .. } = page;
    let (these, words) = settles(page, lines);
    if !words.is_empty() {
        record_all(places, words.iter().map(|one| said(page, one, now)).collect())?;
    }
    let mut outdated = 0;
    for one in &words {
        match store.pin_tool(fingerprint, one)? {
            Applied::Done => {}
            Applied::Outdated => outdated += 1,
        }
    }
    let said: Vec<Agreement> = words.iter().filter(|_| proof.is_signed()).map(|one| one.agreement()).collect();
    let all: Vec<_> =
        these.iter().copied().chain(&said).map(|one| (server.as_str(), fingerprint.as_str(), one)).collect();
    if !all.is_empty() {
        agreed::agree(store, places, &all, (proof, None), now)?;
    }
    let lines = counted(these.len() + words.len() - outdated, "line");
    let mut says = format!("Agreed to {lines} of {server}.");
    if outdated > 0 {
        says.push_str(&format!(" {outdated} changed since and stay as they were."));
    }
    Ok((says, these.into_iter().cloned().collect()))
}

fn said(page: &Page, word: &Pinning, now: i64) -> Entry {
    let mut entry = Entry::new(now, Kind::Tools, &page.server.as_str().into(), &"review".into());
    entry.tool = Some(word.tool.as_str().into());
    entry.digest = Some(word.definition);
    let entry = entry.with("review", format!("pinned as {}", word.says)).with("operator", user::name());
    entry.with("fingerprint", page.fingerprint.as_str())
}

//! The page of one server: which of its tools read and how that is proven, what calls of these will ask about, and what changes
//! something. One value for console and command line, made from what is known; reads and settles nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::behavior::shape::ahead::{Ahead, Each, ahead};
use crate::behavior::shape::{self, Given, Keys};
use crate::behavior::{
    Agreement, Agreements, Behavior, Confidence, Identity, Mutability, Source, agreed::What, conclude,
};
use crate::gate::data::pin::{PinState, Pinning};
use crate::mcp::Tool;
use crate::pins::reading::StoredTool;
use crate::policy::rule::FirstUse;
use crate::wire::{Digest, counted, words::words};

const NAMED: usize = 8;

words! {
    Group {
        Reads = "reads",
        New = "new",
        Changes = "changes",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Nothing: it is there to be known.
    Nothing,
    Agreed,
    Agree(Agreement),
    /// The definition is said to read.
    Reads(Pinning),
}

/// Whether a line is marked before the operator has touched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beforehand {
    Marked,
    Unmarked,
}

/// One line. Texts in it are foreign, raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub group: Group,
    /// The tool; empty where it is about several, or about the server.
    pub tool: String,
    pub says: String,
    pub offer: Offer,
    pub beforehand: Beforehand,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub server: String,
    /// The digest of the server's command line, 64 hex characters.
    pub fingerprint: String,
    /// What the policy says of proven tools that nobody has answered for.
    pub first_use: FirstUse,
    /// In the order of their groups.
    pub lines: Vec<Line>,
}

/// A tool of the server, and what is known of it.
#[derive(Clone, Debug)]
pub struct Known<'t> {
    pub name: &'t str,
    pub digest: Digest,
    pub pin_state: PinState,
    pub behavior: &'t Behavior,
    /// The definition with what our list of well-known servers says of it; `None` where only the list was read.
    pub definition: Option<(&'t Tool, Option<&'t Arc<Given>>)>,
}

/// What calls of a server were seen to ask about, and how often.
pub type Seen = BTreeMap<Agreement, u64>;

impl<'t> From<&'t StoredTool> for Known<'t> {
    fn from(known: &'t StoredTool) -> Self {
        let StoredTool { tool, behavior, pin, pin_state, given, .. } = known;
        let definition = Some((tool, given.as_ref()));
        Self { name: &tool.name, digest: pin.latest, pin_state: *pin_state, behavior, definition }
    }
}

impl Page {
    /// The page of the server with this name and fingerprint. `agreed` is what counts for it, `folders` are those that its
    /// command names, `seen` is what calls asked about.
    pub fn of(
        (server, fingerprint): (&str, &str),
        first_use: FirstUse,
        tools: &[Known<'_>],
        agreed: &Agreements,
        folders: &[String],
        seen: &Seen,
    ) -> Self {
        let is_read = |one: &&Known<'_>| {
            one.behavior.identity.mutability == Mutability::Pure
                && !one.behavior.disputed
                && matches!(one.pin_state, PinState::Trusted | PinState::New)
        };
        let (reads, others): (Vec<&Known<'_>>, Vec<&Known<'_>>) = tools.iter().partition(is_read);
        let mut lines: Vec<Line> = reads.iter().map(|known| known.line(agreed)).collect();
        // What is marked first, and what has to be read most closely last.
        lines.sort_by_key(|line| line.beforehand == Beforehand::Unmarked && line.offer != Offer::Agreed);
        lines.extend(new(&reads, agreed, folders, seen));
        lines.extend(others.iter().map(|known| known.change()));
        Self { server: server.to_owned(), fingerprint: fingerprint.to_owned(), first_use, lines }
    }

    /// How many tools that read wait for an answer, and whether any of the server has one.
    fn reads(&self) -> (usize, bool) {
        let reads = self.lines.iter().filter(|line| line.group == Group::Reads);
        let waits = reads.clone().filter(|line| line.can_be_marked()).count();
        (waits, reads.count() > waits)
    }

    /// Whether the server is new: none of its reading tools was answered for yet.
    pub fn is_new(&self) -> bool {
        let (waits, is_answered) = self.reads();
        waits > 0 && !is_answered
    }

    /// Whether the operator's answer would save questions: it is new, or a tool of it asks until it is answered for.
    pub fn is_wanted(&self) -> bool {
        let asks = |line: &Line| match line.offer {
            Offer::Reads(_) => true,
            Offer::Agree(_) => line.group == Group::Reads && self.first_use == FirstUse::AskOnce,
            Offer::Nothing | Offer::Agreed => false,
        };
        self.is_new() || self.lines.iter().any(asks)
    }

    pub fn is_open(&self) -> bool {
        self.lines.iter().any(Line::can_be_marked)
    }

    /// How many tools read, and how many change something, in words: `9 read, 4 change something`.
    pub fn counts(&self) -> String {
        let of = |group| self.lines.iter().filter(|line| line.group == group).count();
        let (reads, changes) = (of(Group::Reads), of(Group::Changes));
        format!(
            "{}, {}",
            counted(reads, "tool reads|tools read"),
            counted(changes, "changes something|change something")
        )
    }
}

impl Line {
    pub fn can_be_marked(&self) -> bool {
        matches!(self.offer, Offer::Agree(_) | Offer::Reads(_))
    }

    fn told(group: Group, tool: &str, says: String) -> Self {
        Self { group, tool: tool.to_owned(), says, offer: Offer::Nothing, beforehand: Beforehand::Unmarked }
    }
}

impl Known<'_> {
    /// Whether it may be marked before anybody has looked: our list says so, or its texts prove it. Nothing learnt counts.
    fn is_sure(&self) -> bool {
        let by_texts = || self.definition.is_some_and(|(tool, _)| conclude::is_proven_by_texts(tool));
        let is_plain = self.pin_state == PinState::Trusted && self.behavior.hazards.is_empty();
        is_plain && self.behavior.confidence == Confidence::Proven && (self.behavior.has(Source::Curated) || by_texts())
    }

    fn line(&self, agreed: &Agreements) -> Line {
        let Behavior { identity, confidence, .. } = *self.behavior;
        let once = shape::first_use(self.name, self.digest);
        let asks = confidence == Confidence::Likely || self.pin_state == PinState::New;
        let offer = if self.behavior.has(Source::Pinned) || !asks && agreed.contains(&once) {
            Offer::Agreed
        } else if asks {
            Offer::Reads(self.pinning(identity))
        } else {
            Offer::Agree(once)
        };
        let can_be_marked = !matches!(offer, Offer::Agreed);
        let beforehand = if can_be_marked && self.is_sure() { Beforehand::Marked } else { Beforehand::Unmarked };
        Line { group: Group::Reads, tool: self.name.to_owned(), says: self.proof(), offer, beforehand }
    }

    fn pinning(&self, is: Identity) -> Pinning {
        Pinning { tool: self.name.to_owned(), definition: self.digest, is, says: is }
    }

    fn proof(&self) -> String {
        let behavior = self.behavior;
        let reads = behavior.evidence.iter().filter(|one| one.says.mutability == Some(Mutability::Pure));
        if self.behavior.has(Source::Pinned) {
            return "you said so".to_owned();
        }
        if self.behavior.has(Source::Curated) {
            return "we reviewed exactly this definition".to_owned();
        }
        let says: Vec<String> = reads
            .map(|one| match one.source {
                Source::Name | Source::Description => format!("{} \"{}\"", one.source.word(), one.span),
                Source::Learned => "a model of known tools".to_owned(),
                Source::Annotated | Source::Declared => format!("the server ({})", one.span),
                Source::Pinned | Source::Curated | Source::Outside | Source::Arguments => one.source.word().to_owned(),
            })
            .collect();
        let sure = match (behavior.confidence, self.pin_state) {
            (_, PinState::New) => "added later: ",
            (Confidence::Proven, _) => "",
            (Confidence::Likely | Confidence::None, _) => "not sure: only ",
        };
        format!("{sure}{}{}", says.join(", "), self.hazard())
    }

    fn hazard(&self) -> String {
        self.behavior.hazards.first().map(|hazard| format!("; {}", hazard.kind.word())).unwrap_or_default()
    }

    /// The line of a tool that changes something, or that nothing is said of here.
    fn change(&self) -> Line {
        let state = match self.pin_state {
            PinState::Trusted => String::new(),
            state => format!("{}: review it first; ", state.word()),
        };
        let disputed = if self.behavior.disputed { "; what is said of it contradicts itself" } else { "" };
        let Identity { action, output_domain, .. } = self.behavior.identity;
        let says = format!("{state}{} {}{disputed}{}", action.word(), output_domain.word(), self.hazard());
        Line::told(Group::Changes, self.name, says)
    }
}

/// What calls of the reading tools will ask about, and what was seen to.
fn new(reads: &[&Known<'_>], agreed: &Agreements, folders: &[String], seen: &Seen) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    // What was seen comes first.
    let names_read = |one: &Agreement| one.tool.is_empty() || reads.iter().any(|known| known.name == one.tool);
    for (one, times) in seen.iter().filter(|(one, _)| one.what != What::Tool && names_read(one)) {
        let times = format!(" · seen in {}", counted(*times, "call"));
        lines.push(offered(one.clone(), agreed, &times));
    }
    let mut each: BTreeMap<Each, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    for known in reads {
        let Some((tool, given)) = known.definition else { continue };
        for one in ahead(tool, &Keys::of(tool, known.behavior.identity.action, &known.behavior.evidence, given)) {
            match one {
                Ahead::Once(one) if seen.contains_key(&one) => {}
                Ahead::Once(one) => lines.push(offered(one, agreed, "")),
                Ahead::Each(kind, key) => each.entry(kind).or_default().entry(key).or_default().push(&tool.name),
            }
        }
    }
    let told = each.into_iter().map(|(kind, keys)| {
        let what = match kind {
            Each::Folder if folders.is_empty() => "each folder outside its working folder".to_owned(),
            Each::Folder => format!("each folder outside {} and its working folder", folders.join(", ")),
            Each::Host => "each host".to_owned(),
            Each::Statement => "each new outline of a statement".to_owned(),
            Each::Value => "each value".to_owned(),
        };
        let more = keys.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {}", counted(more, "more key")) };
        let keys = keys.into_iter().take(NAMED).map(|(key, tools)| match tools.as_slice() {
            [one] => format!("{key} ({one})"),
            several => format!("{key} ({})", counted(several.len(), "tool")),
        });
        Line::told(Group::New, "", format!("{what}: {}{more}", keys.collect::<Vec<_>>().join(", ")))
    });
    lines.extend(told);
    lines
}

/// A line of what is new; never marked beforehand.
fn offered(one: Agreement, agreed: &Agreements, more: &str) -> Line {
    let says = format!("{}{more}", one.says());
    let offer = if agreed.contains(&one) { Offer::Agreed } else { Offer::Agree(one.clone()) };
    Line { group: Group::New, tool: one.tool, says, offer, beforehand: Beforehand::Unmarked }
}

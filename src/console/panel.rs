//! What is above and below every screen: banners, the note, the question at the bottom. These rows are drawn and, by their
//! number, place everything else.

use super::card::{Anchor, Fold};
use super::desk;
use super::model::{Armed, LostFate, Model, Overlay, Process, Reach, Reading, Screen, Seen, Tour};
use super::pages::servers;
use super::palette;
use super::rows::{self, Areas, Arrangement, Heights, content_rows};
use crate::text::row::{Row, Tone, danger, foreign, key, ours, quiet, warn};
use crate::wire::number::counted;

/// Errors of `config.toml` that are named: more would leave no room for calls.
const PROBLEMS: usize = 2;

impl Model {
    pub fn areas(&self) -> Areas {
        let arrangement = match self.screen {
            _ if self.overlay.as_ref().is_some_and(Overlay::is_whole) => Arrangement::Body,
            Screen::Activity | Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers => Arrangement::Body,
            _ if self.queue.calls.is_empty() => Arrangement::Body,
            Screen::Queue => Arrangement::QueueAndCard,
            Screen::Detail => Arrangement::CardAlone,
        };
        let height = |rows: usize| u16::try_from(rows).unwrap_or(u16::MAX);
        let panel = match rows(self).len() {
            0 => 0,
            rows => rows + 1,
        };
        let heights = Heights {
            banners: height(self.banners().len()),
            strip: u16::from(arrangement == Arrangement::QueueAndCard && servers::shows_strip(self)),
            queue: height(self.queue.line_count() + 1),
            panel: height(panel),
            footer: height(self.note_rows().len()),
        };
        rows::areas(self.size, arrangement, heights)
    }

    /// That keys are ignored, and the note, wrapped to the screen's width.
    pub fn note_rows(&self) -> Vec<Row> {
        let width = usize::from(self.size.0);
        let ignored = self.ignores_keys().then(|| warn("Keys are ignored until you pause."));
        let row = match (self.note.clone(), ignored) {
            (Some(note), Some(ignored)) => ignored.ours(" ").joined(note),
            (one, other) => match one.or(other) {
                Some(row) => row,
                None => return Vec::new(),
            },
        };
        ours(" ").joined(row).hung(width, 1)
    }

    /// What a key would fold: the container chosen last, if it is on screen; else the first folded one there, or the first.
    pub fn fold_cursor(&self) -> Option<Anchor> {
        let anchors = self.card.laid.as_ref()?.anchors(self.card.scroll, self.card_rows());
        let chosen = anchors.iter().find(|anchor| Some(anchor.at) == self.card.fold_at);
        let folded = || anchors.iter().find(|anchor| anchor.fold == Fold::Closed);
        chosen.or_else(folded).or(anchors.first()).copied()
    }

    pub fn card_rows(&self) -> usize {
        content_rows(self.areas().card)
    }

    pub fn banners(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let observed = self.wrappers.iter().filter(|one| one.wrapper.observe).map(|one| one.wrapper.server.as_str());
        if let Some(names) = names(Tone::Strong, &observed.collect::<Vec<_>>()) {
            let row = Row::of(Tone::Loud, " OBSERVE ").ours(" ").joined(names);
            rows.push(row.danger(": every call passes without a question and is only recorded"));
        }
        let said =
            self.wrappers.iter().filter_map(|one| Some((one.status.banner.as_deref()?, one.wrapper.server.as_str())));
        for (banner, servers) in by_cause(said) {
            // A banner for every server needs no names.
            let all = servers.len() == self.wrappers.len() && servers.len() > 1;
            let names = names(Tone::Strong, &servers).filter(|_| !all).map(|names| names.warn(": "));
            let row = warn(" ▲ ").joined(names.unwrap_or_default());
            rows.push(row.and_foreign(Tone::Warn, banner));
        }
        rows.extend(desk::mixed(self));
        rows.extend(self.lost_calls());
        let crashed = self.crashed.iter().map(|(server, how)| (how.as_str(), server.as_str()));
        for (how, servers) in by_cause(crashed) {
            let row = danger(" ▲ ").joined(names(Tone::Strong, &servers).unwrap_or_default());
            let row = row.danger(if servers.len() == 1 {
                ": the server ended by itself: "
            } else {
                ": the servers ended by themselves: "
            });
            rows.push(row.and_foreign(Tone::Danger, how).quiet(" · ").key("1 Esc").quiet(" dismisses this"));
        }
        let versions =
            self.incompatible.iter().map(|other| ((other.version.as_str(), other.protocol), other.name.as_str()));
        for ((version, protocol), servers) in by_cause(versions) {
            let row = danger(" ▲ ").joined(names(Tone::Strong, &servers).unwrap_or_default());
            let wrapper = if servers.len() == 1 { "its wrapper is" } else { "their wrappers are" };
            let row = row.danger(format!(": {wrapper} version ")).and_foreign(Tone::Danger, version);
            let words = format!(" (protocol {protocol}), this console {}: restart the host", self.settings.version);
            rows.push(row.danger(words));
        }
        for problem in self.settings.problems.iter().take(PROBLEMS) {
            rows.push(warn(" ▲ ").and_foreign(Tone::Warn, problem));
        }
        if let more @ 1.. = self.settings.problems.len().saturating_sub(PROBLEMS) {
            let row = warn(format!(" ▲ and {}: ", counted(more, "more error")));
            rows.push(row.key(self.hint("mcp-approve doctor")).warn(" lists them"));
        }
        let around =
            [(&self.around.broken, ": it is tried again, and what waits goes on waiting"), (&self.around.left_out, "")];
        for (what, then) in around {
            if let Some(what) = what {
                rows.push(danger(" ▲ ").and_foreign(Tone::Danger, what).danger(then));
            }
        }
        let teams = self.tools.pins.iter().filter(|_| self.screen == Screen::Tools).flat_map(|book| &book.teams);
        if let Some(names) = names(Tone::Strong, &teams.map(String::as_str).collect::<Vec<_>>()) {
            let command = self.hint("mcp-approve tools review --team");
            rows.push(ours(" What ").joined(names).ours(" shared with the team waits for you: ").key(command));
        }
        if let Some(wrong) = &self.witness.wrong {
            rows.push(warn(" ▲ ").and_foreign(Tone::Warn, wrong));
        }
        if let Some(trouble) = &self.trouble {
            rows.push(danger(" ▲ ").and_foreign(Tone::Danger, trouble));
        }
        let width = usize::from(self.size.0);
        rows.into_iter().flat_map(|row| row.hung(width, 3)).collect()
    }

    fn lost_calls(&self) -> Option<Row> {
        const NAMED: usize = 2;
        let servers = self.lost.iter().fold(Vec::new(), |mut names, one| {
            if !names.contains(&one.server.as_str()) {
                names.push(&one.server);
            }
            names
        });
        let row = danger(" ▲ ").joined(names(Tone::Strong, &servers)?).danger(": its wrapper was killed with ");
        let ran = self.lost.iter().filter(|one| one.fate == LostFate::MayHaveRun).count();
        let fate = match (self.lost.len(), ran) {
            (1, 0) => "which did not run".to_owned(),
            (_, 0) => "none of which ran".to_owned(),
            (1, _) => "which was just approved and may have run".to_owned(),
            (_, ran) => format!("of which {ran}, just approved, may have run"),
        };
        let mut row = row.danger(format!("{} held, {fate}: ", counted(self.lost.len(), "call")));
        for (at, one) in self.lost.iter().take(NAMED).enumerate() {
            row = row.quiet(if at == 0 { "" } else { "; " }).and_foreign(Tone::Ours, &one.effect);
        }
        let more = self.lost.len().saturating_sub(NAMED);
        let row = if more == 0 { row } else { row.quiet(format!(" and {more} more")) };
        Some(row.quiet(" · ").key("1 Esc").quiet(" dismisses this"))
    }

    /// The words of a notice, on one line without a control character: server and effect of the last call that came.
    pub fn notice(&self) -> String {
        /// Desktops cut longer ones anywhere.
        const LONGEST: usize = 160;
        let Some(last) = self.queue.calls.iter().rev().find(|held| held.waits()) else {
            return "no call waits".to_owned();
        };
        let (server, effect) = (foreign(Tone::Ours, &last.server), foreign(Tone::Ours, &last.snapshot.effect));
        let more = match self.queue.waiting() {
            0 | 1 => String::new(),
            waiting => format!(" · {} more wait", waiting - 1),
        };
        let row = server.ours(": ").joined(effect).clipped(LONGEST.saturating_sub(more.len()));
        row.text() + &more
    }
}

/// The rows of the open question at the screen's width; none when nothing is asked.
pub fn rows(model: &Model) -> Vec<Row> {
    let width = usize::from(model.size.0);
    let rows = match &model.overlay {
        Some(Overlay::Confirm { armed, reading }) => confirm(model, armed, *reading),
        Some(Overlay::Word { armed, reading, text }) => {
            let mut rows = confirm(model, armed, *reading);
            // In little room, what is being typed goes first.
            rows.splice(1..1, model.word(armed).map(|word| typing(&word, text)));
            rows
        }
        Some(Overlay::Reason { members, text, .. }) => reason(model, members, text, width),
        Some(Overlay::Find { text }) => {
            vec![key(" / ").and_foreign(Tone::Strong, text).key("▏"), find_hint(model)]
        }
        Some(Overlay::Unreadable { armed, problem, .. }) => vec![
            heading(model, Tone::Warn, "The edited arguments cannot be sent", armed),
            ours(" ").and_foreign(Tone::Danger, problem),
            quiet(" Nothing was sent; the call still waits as it was."),
        ],
        Some(Overlay::Leave) => vec![
            warn(format!(" {} for you. Leave the console?", waits(model.queue.waiting()))),
            quiet(match model.settings.process {
                Process::Demo => " The demo ends with its console: its agent withdraws them, and none of them runs.",
                Process::Own | Process::Shared => {
                    " They stay held until their deadline, or until another console decides them."
                }
            }),
        ],
        Some(Overlay::Search { text, .. }) => search(model, text, width),
        Some(Overlay::Palette { text, at }) => return choices(model, text, *at, width),
        Some(Overlay::Help { .. } | Overlay::Batch(_) | Overlay::Rule(_) | Overlay::Review(_)) => Vec::new(),
        None => tour(model),
    };
    rows.into_iter().flat_map(|row| row.hung(width, 1)).collect()
}

fn waits(calls: usize) -> String {
    format!("{} {}", counted(calls, "call"), if calls == 1 { "still waits" } else { "still wait" })
}

fn confirm(model: &Model, armed: &Armed, reading: Reading) -> Vec<Row> {
    let Some(held) = model.still(armed) else {
        return vec![over(armed)];
    };
    let why = held.snapshot.danger.as_deref().unwrap_or_default();
    let question = match (reading, held.seen) {
        (Reading::Unread, _) | (_, Seen::Partly) => "Approve this dangerous call UNREAD?".to_owned(),
        (Reading::Read, Seen::Skipping(rows)) => {
            format!("Approve this dangerous call? {} skipped.", counted(rows, "row"))
        }
        (Reading::Read, Seen::Whole) => "Approve this dangerous call?".to_owned(),
    };
    vec![
        heading(model, Tone::Danger, &question, armed),
        ours(" ").and_foreign(Tone::Strong, model.effect_of(held)),
        danger(" ◆ ").and_foreign(Tone::Danger, why),
    ]
}

/// What was typed of the word, and whether it is right so far.
fn typing(word: &str, text: &str) -> Row {
    let row = ours(" Type ").key(word).ours(" to approve it: ");
    let tone = if word.starts_with(text) { Tone::Strong } else { Tone::Danger };
    row.and_foreign(tone, text).key("▏").quiet(" its last letter sends it")
}

fn reason(model: &Model, members: &[Armed], text: &str, width: usize) -> Vec<Row> {
    let heading = match members {
        // What is typed is still text, and stays in sight.
        [armed] if model.waits(armed).is_none() => return vec![over(armed), written((" › ", " … "), text, width)],
        [armed] => heading(model, Tone::Ours, "Deny, because", armed),
        many => {
            ours(format!(" Deny {} calls, because", many.len())).quiet("  · each is listed before anything is sent")
        }
    };
    let last = match model.queue.reasons.front() {
        Some(reason) if text.is_empty() => {
            let told = quiet(" The agent reads the reason. ").key("↑");
            told.quiet(" takes the last: ").and_foreign(Tone::Ours, reason).clipped(width)
        }
        _ => quiet(" The agent reads the reason. It may stay empty."),
    };
    vec![heading, written((" › ", " … "), text, width), last]
}

fn find_hint(model: &Model) -> Row {
    match model.card.sought.as_str() {
        "" => quiet(" Words anywhere on the card, whatever their case; n goes to the next match, N to the one before."),
        last => quiet(" Enter alone looks again for ").and_foreign(Tone::Ours, last),
    }
}

/// The text being written, with the cursor, which stays visible: of a long text the end is shown, after another mark.
fn written((mark, mark_of_end): (&str, &str), text: &str, width: usize) -> Row {
    let shown = foreign(Tone::Strong, text);
    let mut rows = shown.wrapped(width.saturating_sub(4).max(1));
    let line = rows.pop().unwrap_or_default();
    key(if rows.is_empty() { mark } else { mark_of_end }).joined(line).key("▏")
}

fn search(model: &Model, text: &str, width: usize) -> Vec<Row> {
    let problem = model.list(model.screen).and_then(|list| list.problem.as_deref());
    let hint = match problem {
        Some(problem) => ours(" ").and_foreign(Tone::Danger, problem),
        None => {
            let words = " words, tool: server: verdict: by: rule: badge: kind: since:1d until: -not";
            quiet(words).clipped(width)
        }
    };
    vec![written((" / ", " / "), text, width), hint]
}

fn choices(model: &Model, text: &str, at: usize, width: usize) -> Vec<Row> {
    let room = usize::from(model.size.1 / 2).clamp(3, 12);
    let entries = palette::entries(model, text);
    let top = (at + 1).saturating_sub(room);
    let mut rows = vec![written((" : ", " : "), text, width)];
    for (place, entry) in entries.iter().enumerate().skip(top).take(room) {
        let chosen = place == at;
        let row = key(if chosen { " ▸ " } else { "   " });
        let name = foreign(if chosen { Tone::Strong } else { Tone::Ours }, &entry.name);
        let row = row.joined(name.padded(20)).key(format!(" {:<6}", entry.keys));
        rows.push(row.ours(" ").and_foreign(Tone::Quiet, &entry.help).clipped(width));
    }
    if entries.is_empty() {
        rows.push(warn("   No matches."));
    }
    rows
}

pub fn shows_tour(model: &Model) -> bool {
    model.settings.tour == Tour::Shown && model.screen == Screen::Queue && model.size.1 >= 16
}

/// The five lines for a first look, if they leave room for what matters.
fn tour(model: &Model) -> Vec<Row> {
    if !shows_tour(model) {
        return Vec::new();
    }
    let is_desk = model.settings.reach == Reach::Desk;
    if !model.queue.calls.is_empty() && model.size.1 < 36 {
        // A call that waits needs the room.
        let row = key(" a").ours(" approve ·").key(" d").ours(" deny ·");
        let row = if is_desk { row } else { row.key(" 2").ours(" what passes ·") };
        let row = row.key(" 3").ours(" log ·").key(" ?").ours(" keys ·");
        return vec![row.key(" Esc").ours(" hides this row")];
    }
    let line = |keys: &str, words: &str| key(format!(" {keys:<6}")).ours(words);
    let (waits, lists) = match is_desk {
        true => (line("1", "what waits for you on all machines"), line("6", "the machines and their servers")),
        false => (
            line("1 2", "what waits for you, and everything that passes by policy"),
            line("4 5 6", "the tools, the rules and the servers that are known"),
        ),
    };
    vec![
        line("a d", "approve or deny the call on screen; a dangerous one takes a, then y"),
        waits,
        line("3", "who decided what, and when: every call is in the log"),
        lists,
        line("? :", "every key, every command").quiet(" · ").key("Esc").quiet(" dismisses these lines for good"),
    ]
}

fn heading(model: &Model, tone: Tone, words: &str, armed: &Armed) -> Row {
    Row::of(tone, format!(" {words} ")).quiet(" ").joined(desk::name_of(model, armed.key(), Tone::Quiet))
}

fn over(armed: &Armed) -> Row {
    let row = warn(" Too late: ").and_foreign(Tone::Ours, &armed.key().ticket);
    row.ours(" no longer waits as it was shown. Nothing will be sent.")
}

fn names(tone: Tone, servers: &[&str]) -> Option<Row> {
    const MOST: usize = 3;
    let (first, rest) = servers.split_first()?;
    let mut row = foreign(tone, first);
    for name in rest.iter().take(MOST - 1) {
        row = row.quiet(", ").and_foreign(tone, name);
    }
    let more = servers.len().saturating_sub(MOST);
    Some(if more > 0 { row.quiet(format!(" and {more} more")) } else { row })
}

/// Each cause once, with the names it is given for, in the order in which the causes first appear.
fn by_cause<'a, C: PartialEq>(said: impl Iterator<Item = (C, &'a str)>) -> Vec<(C, Vec<&'a str>)> {
    let mut causes: Vec<(C, Vec<&str>)> = Vec::new();
    for (cause, name) in said {
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, names)) => names.push(name),
            None => causes.push((cause, vec![name])),
        }
    }
    causes
}

//! The one table of keys: which key, where, what it does; and the operator's own keys instead, with what may not be bound.
//! Help, footer and `help keys` are made from it.

use Key::{Char, Ctrl, Down, End, Enter, Esc, Home, PageDown, PageUp, Tab, Up};
use Place::{
    Activity, Batch, Confirm, Detail, Find, Help, Leave, Log, Palette, Queue, Reason, Review, Rule, Rules, Search,
    Servers, Tools, Unreadable, Word,
};

use crate::wire::words::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    Char(char),
    Ctrl(char),
    Enter,
    Esc,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Tab,
}

words! {
    Place {
        /// The list of waiting calls, with the selected one's card beside or below.
        Queue = "queue",
        /// One card on the whole screen.
        Detail = "card",
        Activity = "activity",
        Log = "log",
        Tools = "tools",
        Rules = "rules",
        Servers = "servers",
        Search = "search",
        Palette = "commands",
        Help = "help",
        Confirm = "confirmation",
        Word = "typed word",
        Reason = "reason",
        Unreadable = "failed edit",
        Batch = "list",
        Rule = "rule maker",
        Review = "review",
        Find = "find",
        Leave = "leaving",
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Binding {
    pub action: Action,
    pub is: &'static [Is],
    pub keys: &'static [Key],
    pub shown: &'static str,
    /// One or two words for the footer.
    pub name: &'static str,
    pub places: &'static [Place],
    pub help: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// It ends in a verdict: its key does nothing else anywhere.
    Deciding,
    /// It is for places where other keys are text, so its keys cannot be changed.
    Fixed,
    /// It does something at the machine that a call waits on, and nothing on a desk.
    AtMachine,
}

pub const CARD: &[Place] = &[Queue, Detail];
pub const LISTS: &[Place] = &[Activity, Log, Tools, Rules, Servers];
/// Every screen, without the questions and panels over it.
pub const SCREENS: &[Place] = &[Queue, Detail, Activity, Log, Tools, Rules, Servers];
const SCROLLS: &[Place] = &[Queue, Detail, Activity, Log, Tools, Rules, Servers, Help, Batch, Rule, Review];

/// Every screen, and the list of calls that are decided together.
const OPENS: &[Place] = &[Queue, Detail, Activity, Log, Tools, Rules, Servers, Batch];
const BACK: &[Place] = &[
    Queue, Detail, Activity, Log, Tools, Rules, Servers, Search, Palette, Help, Confirm, Word, Reason, Unreadable,
    Batch, Rule, Review, Find, Leave,
];
const QUITS: &[Place] = &[Queue, Detail, Activity, Log, Tools, Rules, Servers, Help, Batch, Rule, Review, Leave];

/// A line: the action and what limits its keys, the keys, how they are written, its name, where it works, and its help.
macro_rules! bindings {
    ($($action:ident $($is:ident)* [$($key:expr),*] $shown:literal $name:literal $places:expr => $help:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Action {
            $(#[doc = $help] $action),*
        }

        /// The table. The footer names keys in this order while there is room.
        pub const BINDINGS: &[Binding] = &[$(Binding {
            action: Action::$action,
            is: &[$(Is::$is),*],
            keys: &[$($key),*],
            shown: $shown,
            name: $name,
            places: $places,
            help: $help,
        }),*];
    };
}

bindings! {
    Approve Deciding [Char('a')] "a" "approve" CARD =>
        "Approves the call on screen, once the end of its arguments was shown; a dangerous one then asks for y. The record says when rows were skipped.";
    Deny Deciding [Char('d')] "d" "deny" CARD =>
        "Denies the call: asks for a reason (it may stay empty), Enter sends it, Esc goes back.";
    Confirm Deciding Fixed [Char('y')] "y" "yes" &[Confirm, Batch, Leave] =>
        "Confirms the approval of a dangerous call, leaving, or the decision about the listed calls: approves those that were on the screen whole, \
         and denies once the list was read to its end.";
    Send Deciding Fixed [Enter] "Enter" "deny" &[Reason] =>
        "Sends the denial with its reason.";
    Reads Deciding AtMachine [Char('p')] "p" "remember" &[Queue, Detail, Tools] =>
        "Approves a read that waits only because something in it is new or its tool unconfirmed, and remembers that; \
         on Tools, remembers the marked tools as PURE.";
    Changes Deciding AtMachine [Char('m')] "m" "it changes" &[Queue, Detail, Tools] =>
        "Remembers the tool of such a call, or the marked tools, as MUTATES; the call still waits.";
    PlainText Deciding AtMachine [Char('w')] "w" "plain text" CARD =>
        "Takes any text under the keys whose text is new, in this and every later call of the tool, and has the call judged again.";
    Edit Deciding AtMachine [Char('e')] "e" "edit" &[Queue, Detail, Rules, Unreadable] =>
        "Opens the arguments, or the selected rule, in $EDITOR; a changed call comes back and waits; what a changed \
         rule newly allows takes effect once you accept it.";
    Rule AtMachine [Char('r')] "r" "rule" &[Queue, Detail, Log] =>
        "Makes a rule from the call; k moves up to the grants, which approve it and more for a while. Choose how wide, \
         read it, Enter.";
    WriteRule Deciding Fixed AtMachine [Enter] "Enter" "do it" &[Rule] =>
        "Writes the rule on show, or gives the grant on show and approves the call. Asks for a second Enter first: for a grant \
         from a dangerous call, one that lets other waiting calls run, one for every call of the tool until the session ends; \
         for an allow of every call of the tool, one that names a hazard, one that covers what was denied before.";
    Scope Fixed [Char('c'), Char('v'), Char('f'), Char('t'), Char('n'), Char('m'), Char('s'), Char('x')] "c v f t n m s x" "how wide" &[Rule] =>
        "Goes to the rule for this exact call, the same values, the folder (again: the one above), the tool, or to never; to the grant for minutes (m), the session (s) or a number of calls (x), and again to a wider one.";
    Number Fixed [Char('0'), Char('1'), Char('2'), Char('3'), Char('4'), Char('5'), Char('6'), Char('7'), Char('8'), Char('9')]
        "0…9" "how many" &[Rule] =>
        "Types the number of minutes or calls of the grant on show.";
    Accept Deciding Fixed AtMachine [Enter] "Enter" "accept" &[Review] =>
        "Accepts the change on show once it was read to its end and pressed again, or writes the rule that is suggested; on a server's \
         page, agrees to what is marked.";
    Refuse AtMachine [Char('x')] "x" "refuse" &[Review] =>
        "Refuses the definition on show: the tool's calls are denied until it is accepted; u takes that back.";
    End AtMachine [Char('x')] "x" "end" &[Rules] =>
        "Ends the selected grant at once, removes the selected rule from your policy file (u takes that back), or drops a suggestion.";
    Replay AtMachine [Char('R')] "R" "replay" &[Rules] =>
        "Shows which past rulings the policy as it is written would change, from what to what.";
    Mark [Char(' ')] "space" "mark" &[Queue, Tools, Review, Batch] =>
        "Marks a call, or takes its mark back; a, A and d are then about all marked calls, in a list: there it ticks, and y decides what is \
         ticked. On Tools, marks a tool; on a server's page, a line.";
    MarkAlike [Char('*')] "*" "mark alike" &[Queue, Batch] =>
        "Marks every waiting call of the same tool of the same server; again, of the server; again, all; then none. In a list, ticks all or none.";
    Extend AtMachine [Char('t')] "t" "more time" CARD =>
        "Extends the call's deadline by the approval time, at most until its host gives up.";
    Open [Enter] "Enter" "open" OPENS =>
        "Opens what is selected on the whole screen, or in a list of calls its card, or closes it. Never approves.";
    Back Fixed [Esc] "Esc" "back" BACK =>
        "Goes back one step without deciding anything; in a list, drops its search.";
    Down [Char('j'), Down] "j ↓" "down" SCROLLS =>
        "Moves down: to the next call in the queue, by one line elsewhere.";
    Up [Char('k'), Up] "k ↑" "up" SCROLLS =>
        "Moves up: to the previous call in the queue, by one line elsewhere.";
    PageDown [PageDown] "PgDn" "page" SCROLLS =>
        "Reads on by a page.";
    PageUp [PageUp] "PgUp" "page back" SCROLLS =>
        "Reads back by a page.";
    Top [Home] "Home" "start" SCROLLS =>
        "Goes to the first line.";
    Bottom [End] "End" "end" SCROLLS =>
        "Skips to the end of the arguments, then to the end of the card; in Activity, follows what passes.";
    First [Char('g')] "g" "first" SCROLLS =>
        "Pressed twice (g g): goes to the first call of the queue, or to the first line elsewhere.";
    Last [Char('G')] "G" "last" SCROLLS =>
        "Goes to the last call of the queue, or to the last line elsewhere.";
    HalfDown [Ctrl('d')] "Ctrl-D" "half a page down" SCROLLS =>
        "Moves down by half a page: calls in the queue, lines elsewhere.";
    HalfUp [Ctrl('u')] "Ctrl-U" "half a page up" SCROLLS =>
        "Moves up by half a page.";
    ApproveUnread Deciding [Char('A')] "A" "approve unread" CARD =>
        "Approves although not all of it was shown; the record says so. A dangerous call still asks for y.";
    StopAsking Deciding AtMachine [Char('+')] "+" "stop asking" &[Queue, Detail, Rule] =>
        "Shows the narrowest rule that fits what was approved of this tool before; pressed again, writes it for 30 days. For ten seconds \
         u takes it back. A dangerous call takes r.";
    Sort [Char('s')] "s" "sort" &[Queue] =>
        "Sorts the queue: oldest first, by risk, or by server.";
    NextServer [Char(']')] "]" "next server" &[Queue] =>
        "Goes to the first call of the next server, where the queue goes by server (s).";
    PreviousServer [Char('[')] "[" "previous server" &[Queue] =>
        "Goes to the first call of the server before.";
    Find [Char('/')] "/" "find" SCREENS =>
        "Filters the queue and every list by words and fields such as tool:write server:git since:1d; in an open card, finds words.";
    Seek Fixed [Enter] "Enter" "find" &[Find] =>
        "Goes to the next match.";
    NextHit [Char('n')] "n" "next" CARD =>
        "Goes to the next match.";
    PreviousHit [Char('N')] "N" "previous" CARD =>
        "Goes to the previous match.";
    Fold [Char('z')] "z" "fold" CARD =>
        "Unfolds the object or list at the cursor of the arguments, or folds it; a click on its line does the same.";
    FoldAll [Char('Z')] "Z" "fold all" CARD =>
        "Unfolds everything in the arguments; again folds what is deep or long. What is folded was not read.";
    Details [Char('i')] "i" "details" CARD =>
        "Shows the details, or folds them: why mcp-approve asks, signature, description, evidence, checks, digests.";
    NextFold [Tab] "Tab" "next fold" CARD =>
        "Goes to the next object or list of the arguments that folds.";
    Copy [Char('Y')] "Y" "copy" CARD =>
        "Copies the arguments to the clipboard, where the terminal allows that (OSC 52).";
    Group [Char('o')] "o" "group" &[Queue, Log] =>
        "Shows identical calls as one row that is decided together, or each on its own row; on Log, one row a call, \
         or every record.";
    DenyServer Deciding [Char('D')] "D" "deny server" CARD =>
        "Denies every waiting call of this call's server (under a search, those it finds): asks for a reason, lists \
         them, y sends.";
    Undo AtMachine [Char('u')] "u" "undo" &[Queue, Detail, Tools, Rules] =>
        "On Rules, takes back the last change of your policy file that was made here or by `rules` (on a call it opens \
         Rules first); on Tools, the last review.";
    Switch AtMachine [Char('t')] "t" "on/off" &[Rules] =>
        "Switches the selected rule off, so that it stays in its file and decides nothing, or on again; u takes that back.";
    NextAgreed [Tab] "Tab" "next agreed" &[Tools] =>
        "Selects the next line of what is agreed to on the open sheet.";
    Forget AtMachine [Char('x')] "x" "forget" &[Tools] =>
        "Takes back the line of what is agreed to that is selected (Tab): calls ask about it again.";
    Earlier Fixed [Up] "↑" "earlier reason" &[Reason] =>
        "Takes an earlier reason, the last first.";
    Later Fixed [Down] "↓" "later reason" &[Reason] =>
        "Goes back to a later reason.";
    Palette [Char(':')] ":" "commands" SCREENS =>
        "Lists every command and key by name; Enter does what is chosen, and never decides a call.";
    Waiting [Char('1')] "1" "waiting" SCREENS =>
        "Shows the calls that wait.";
    Activity [Char('2')] "2" "activity" SCREENS =>
        "Shows everything that passes, live.";
    Log [Char('3')] "3" "log" SCREENS =>
        "Shows the audit log; from an open tool, rule or server, its records.";
    Tools [Char('4')] "4" "tools" SCREENS =>
        "Shows every tool that is known; from an open record, its tool.";
    Rules [Char('5')] "5" "rules" SCREENS =>
        "Shows the rules and what they decided; from an open record, its rule.";
    Servers [Char('6')] "6" "servers" SCREENS =>
        "Shows the wrapped servers; from an open record, its server.";
    Run Fixed [Enter] "Enter" "go" &[Search, Palette] =>
        "Keeps the search, or does what is chosen.";
    Help [Char('?')] "?" "help" SCROLLS =>
        "Shows this table, before it what the words on top of the open card mean, or closes it.";
    Suspend [Ctrl('z')] "Ctrl-Z" "suspend" SCROLLS =>
        "Stops the console until the shell's fg brings it back. Held calls stay held.";
    Quit [Char('q'), Ctrl('c')] "q" "quit" QUITS =>
        "Leaves the console, and asks first while calls wait (Ctrl-C does not ask). Held calls stay held; in the demo, which ends, none of them runs.";
}

/// The table with the operator's own keys in it. Without any it is the table itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    own: Vec<Own>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Own {
    action: Action,
    keys: Vec<Key>,
    shown: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {hint}")]
pub struct Conflict {
    /// The action it is about, as config.toml names it.
    pub name: String,
    pub what: String,
    pub hint: String,
}

impl Conflict {
    fn new(name: &str, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name: name.to_owned(), what: what.into(), hint: hint.into() }
    }
}

impl Keys {
    /// The table with these keys instead, actions and keys as config.toml names them; or every conflict.
    pub fn bind(own: &[(String, Vec<String>)]) -> Result<Self, Vec<Conflict>> {
        let mut conflicts = Vec::new();
        let mut keys = Self::default();
        for (name, words) in own {
            let Some(binding) = BINDINGS.iter().find(|binding| config_name(binding) == *name) else {
                let free = BINDINGS.iter().filter(|binding| !binding.is.contains(&Is::Fixed));
                let known: Vec<String> = free.map(config_name).collect();
                let hint = format!("actions are {}", known.join(", "));
                conflicts.push(Conflict::new(name, format!("there is no action {name:?}"), hint));
                continue;
            };
            if binding.is.contains(&Is::Fixed) {
                let what = format!("{name} keeps its key {}", binding.shown);
                conflicts.push(Conflict::new(name, what, "remove it from [console.keys]"));
                continue;
            }
            let mut bound = Vec::new();
            for word in words {
                match read(word) {
                    Some(Key::Ctrl('c')) => {
                        conflicts.push(Conflict::new(name, "Ctrl-C always leaves the console", "choose another key"));
                    }
                    Some(key) => bound.push(key),
                    None => {
                        let hint = "write one character, Ctrl-x, Enter, Up, Down, PgUp, PgDn, Home, End or Tab";
                        conflicts.push(Conflict::new(name, format!("{word:?} names no key"), hint));
                    }
                }
            }
            if words.is_empty() {
                let what = format!("{name} would have no key");
                conflicts.push(Conflict::new(name, what, "name at least one"));
            }
            keys.own.push(Own { action: binding.action, keys: bound, shown: words.join(" ") });
        }
        keys.conflicts(&mut conflicts);
        if conflicts.is_empty() { Ok(keys) } else { Err(conflicts) }
    }

    pub fn action(&self, key: Key, place: Place) -> Option<Action> {
        BINDINGS
            .iter()
            .find(|binding| binding.places.contains(&place) && self.of(binding).contains(&key))
            .map(|binding| binding.action)
    }

    pub fn of<'a>(&'a self, binding: &'a Binding) -> &'a [Key] {
        self.own(binding.action).map_or(binding.keys, |own| &own.keys)
    }

    pub fn shown<'a>(&'a self, binding: &'a Binding) -> &'a str {
        self.own(binding.action).map_or(binding.shown, |own| &own.shown)
    }

    fn own(&self, action: Action) -> Option<&Own> {
        self.own.iter().find(|own| own.action == action)
    }

    fn conflicts(&self, conflicts: &mut Vec<Conflict>) {
        for (at, first) in BINDINGS.iter().enumerate() {
            for second in &BINDINGS[at + 1..] {
                let Some(key) = self.of(first).iter().find(|key| self.of(second).contains(key)) else { continue };
                let by_us = self.own(first.action).is_none() && self.own(second.action).is_none();
                let meet = first.places.iter().any(|place| second.places.contains(place));
                let decides = decides(first.action) || decides(second.action);
                // Where the table itself binds a key twice, both mean the same: Enter goes on, and never approves.
                if by_us || !(meet || decides) {
                    continue;
                }
                let named = if self.own(second.action).is_some() { second } else { first };
                let other = if named.action == first.action { second } else { first };
                let why = if decides {
                    "a key that decides a call does nothing else anywhere"
                } else {
                    "both act on the same screen"
                };
                let what =
                    format!("{} is bound to {} and to {}", written(*key), config_name(first), config_name(second));
                let hint = format!("{why}: choose another key for {} or {}", config_name(named), config_name(other));
                conflicts.push(Conflict::new(&config_name(named), what, hint));
            }
        }
    }
}

pub fn decides(action: Action) -> bool {
    is(action, Is::Deciding)
}

pub fn is(action: Action, what: Is) -> bool {
    BINDINGS.iter().any(|binding| binding.action == action && binding.is.contains(&what))
}

/// An action's name in config.toml: its name in the table, with `-` for what is no letter.
fn config_name(binding: &Binding) -> String {
    match binding.action {
        // Their names in the footer say what they do there, so they have other names here.
        Action::Send => "send".to_owned(),
        Action::Confirm => "confirm".to_owned(),
        Action::Seek => "seek".to_owned(),
        Action::WriteRule => "write-rule".to_owned(),
        _ => binding.name.replace(' ', "-"),
    }
}

fn read(word: &str) -> Option<Key> {
    let mut letters = word.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return (!letter.is_control()).then_some(Key::Char(letter));
    }
    if let Some(letter) = word.strip_prefix("Ctrl-") {
        let mut letters = letter.chars();
        return match (letters.next(), letters.next()) {
            (Some(letter), None) if letter.is_ascii_lowercase() => Some(Key::Ctrl(letter)),
            _ => None,
        };
    }
    NAMED.iter().find(|(name, _)| *name == word).map(|(_, key)| *key)
}

/// Keys without a letter, as config.toml names them.
const NAMED: [(&str, Key); 9] = [
    ("Space", Key::Char(' ')),
    ("Enter", Key::Enter),
    ("Up", Key::Up),
    ("Down", Key::Down),
    ("PgUp", Key::PageUp),
    ("PgDn", Key::PageDown),
    ("Home", Key::Home),
    ("End", Key::End),
    ("Tab", Key::Tab),
];

fn written(key: Key) -> String {
    let named = NAMED.iter().find(|(_, one)| *one == key).map(|(name, _)| (*name).to_owned());
    named.unwrap_or_else(|| match key {
        Key::Char(letter) => letter.to_string(),
        Key::Ctrl(letter) => format!("Ctrl-{letter}"),
        other => format!("{other:?}"),
    })
}

pub fn markdown() -> String {
    let mut out = String::from("| key | does | where |\n|---|---|---|\n");
    for binding in BINDINGS {
        let keys: Vec<String> = binding.shown.split(' ').map(|key| format!("`{key}`")).collect();
        let places = place_names(binding.places);
        out.push_str(&format!("| {} | {} | {} |\n", keys.join(" "), binding.help, places.join(", ")));
    }
    out
}

fn place_names(places: &[Place]) -> Vec<&'static str> {
    let groups = [("every screen", SCREENS), ("every list", LISTS)];
    let all = |group: &[Place]| group.iter().all(|place| places.contains(place));
    let group = groups.into_iter().find(|(_, group)| all(group));
    let (name, group) = group.map_or((None, &[][..]), |(name, group)| (Some(name), group));
    let others = places.iter().filter(|place| !group.contains(place)).map(|place| place.word());
    name.into_iter().chain(others).collect()
}

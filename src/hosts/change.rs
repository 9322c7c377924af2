//! A whole file with servers wrapped or unwrapped, and what is remembered to undo it to the byte. Text in, text out: files
//! are `files`' business. Each new text is read again, and refused unless nothing but what was meant has changed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::hosts::edit::{self, APPROVAL, RAISED, Remote, SHORT, Wrap};
use crate::hosts::entry::{ADDRESSES, Entry, Start, Wrapping, entries, inmost};
use crate::hosts::parse::parse;
use crate::hosts::table::{Host, Unit};
use crate::hosts::tree::{Field, Node, REMOTE, Refusal, Splice, Syntax, Value, apply, quoted, without_field};
use crate::wire::digest::Digest;

/// What is remembered of a file in which servers were wrapped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub file: PathBuf,
    /// As `--host` names it.
    pub host: String,
    /// The whole text without any of our wrapping.
    pub before: String,
    /// The text as we left it.
    pub after: Digest,
    pub servers: Vec<Wrapped>,
}

/// A server that we wrapped, and its fields as we left them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapped {
    pub project: Option<String>,
    pub name: String,
    pub fields: String,
}

impl Record {
    fn remembers(&self, project: Option<&str>, name: &str) -> bool {
        self.servers.iter().any(|one| one.is(project, name))
    }
}

impl Wrapped {
    fn is(&self, project: Option<&str>, name: &str) -> bool {
        self.project.as_deref() == project && self.name == name
    }
}

/// A new text, what is to be remembered of it, and what became of each server that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub text: String,
    pub record: Option<Record>,
    pub servers: Vec<Outcome>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub project: Option<String>,
    pub name: String,
    pub done: Done,
}

impl Outcome {
    fn of(entry: &Entry<'_>, done: Done) -> Self {
        Self { project: entry.project.map(str::to_owned), name: entry.name.to_owned(), done }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// With what is worth saying about it.
    Wrapped(Vec<String>),
    /// With what is worth saying about it.
    Unwrapped(Vec<String>),
    /// Its wrapper is another program now; with the one before.
    Repaired(String),
    Already,
    Left(String),
}

/// A file that is changed: whose it is, how it is written, where it is, its text, and what is remembered of it.
#[derive(Clone, Debug)]
pub struct File<'a> {
    pub host: &'static Host,
    pub syntax: Syntax,
    pub path: PathBuf,
    pub text: &'a str,
    pub record: Option<Record>,
}

/// Which servers: by project and name.
pub type Chosen<'c> = &'c dyn Fn(Option<&str>, &str) -> bool;

impl File<'_> {
    /// Wraps what is chosen. Errors: the file cannot be read, or its new text is not what was meant; nothing is changed then.
    pub fn wrap(&self, chosen: Chosen<'_>, how: &Wrap) -> Result<Changed, Refusal> {
        let root = parse(self.syntax, self.text)?;
        let all = entries(self.host, &root)?;
        let (mut splices, mut servers, mut done) = (Vec::new(), Vec::new(), Vec::new());
        for entry in all.iter().filter(|entry| entry.on && chosen(entry.project, entry.name)) {
            let twins = all.iter().filter(|one| (one.project, one.name) == (entry.project, entry.name)).count();
            let outcome = match entry.start() {
                _ if entry.is_ambiguous() => Done::Left(
                    "it has a command and an address, and hosts differ on which they use: take one of them out"
                        .to_owned(),
                ),
                _ if twins > 1 => Done::Left("two servers of this file have its name".to_owned()),
                Start::Wrapped | Start::Observed if edit::has_to_pass(entry, how) => Done::Left(
                    "it is wrapped already, and --codex-approve counts only while wrapping: uninstall it first"
                        .to_owned(),
                ),
                Start::Wrapped | Start::Observed => Done::Already,
                Start::Remote if how.remote == Remote::Leave => Done::Left(match edit::bridged(entry, "", &[]) {
                    Ok(_) => REMOTE.to_owned(),
                    Err(Refusal(why)) => format!("{REMOTE}; {why}"),
                }),
                // A bundle has a file of its own, with no list of servers.
                Start::Remote | Start::Unwrapped | Start::Elsewhere | Start::Bundle => {
                    match edit::wrap(self.text, self.syntax, entry, how) {
                        Ok((more, notes)) => {
                            splices.extend(more);
                            done.push(entry.clone());
                            Done::Wrapped(notes)
                        }
                        Err(Refusal(why)) => Done::Left(why),
                    }
                }
            };
            servers.push(Outcome::of(entry, outcome));
        }
        if done.is_empty() {
            return Ok(Changed { text: self.text.to_owned(), record: self.record.clone(), servers });
        }
        let text = apply(self.text, splices);
        let new = self.proven(&root, &text, &done)?;
        let now = entries(self.host, &new)?;
        let is_kept = |entry: &Entry<'_>| {
            let wrapped = find(&now, entry.project, entry.name).filter(|one| one.start() == Start::Wrapped);
            let words = entry.words().or_else(|| entry.address().map(|address| vec![address]));
            words.zip(wrapped.and_then(Entry::words)).is_some_and(|(old, new)| new.ends_with(&old))
        };
        if !done.iter().all(is_kept) {
            return Err(not_meant());
        }
        // What was wrapped before stays remembered; if the file has not changed since, its text without wrapping is known.
        let before = match &self.record {
            Some(record) if record.after == Digest::of(self.text.as_bytes()) => record.before.clone(),
            Some(record) => self.unwrap(&|project, name| record.remembers(project, name))?.text,
            None => self.text.to_owned(),
        };
        let ours = |project: Option<&str>, name: &str| {
            self.record.as_ref().is_some_and(|record| record.remembers(project, name))
                || find(&done, project, name).is_some()
        };
        let record = Record {
            file: self.path.clone(),
            host: self.host.word.to_owned(),
            before,
            after: Digest::of(text.as_bytes()),
            servers: now.iter().filter(|one| ours(one.project, one.name)).map(|one| wrapped(&text, one)).collect(),
        };
        Ok(Changed { text, record: Some(record), servers })
    }

    /// Gives what is chosen, and is wrapped by a program that `is_wrong`, this program.
    pub fn repair(
        &self,
        chosen: Chosen<'_>,
        program: &str,
        is_wrong: &dyn Fn(&str) -> bool,
    ) -> Result<Changed, Refusal> {
        let root = parse(self.syntax, self.text)?;
        let all = entries(self.host, &root)?;
        let (mut splices, mut servers, mut done) = (Vec::new(), Vec::new(), Vec::new());
        for entry in all.iter().filter(|entry| entry.on && chosen(entry.project, entry.name)) {
            let Some(wrapping) = entry.wrapping().filter(|wrapping| is_wrong(&wrapping.program)) else { continue };
            let nodes = entry.command_nodes();
            let outcome = match nodes.iter().find(|node| node.text() == Some(&wrapping.program)) {
                Some(node) => {
                    splices.push(Splice::of(node.span.clone(), quoted(program)));
                    done.push(entry.clone());
                    Done::Repaired(wrapping.program)
                }
                None => Done::Left("its command is written in a way that mcp-approve does not edit".to_owned()),
            };
            servers.push(Outcome::of(entry, outcome));
        }
        let text = apply(self.text, splices);
        let new = self.proven(&root, &text, &done)?;
        let now = entries(self.host, &new)?;
        let is_meant = |old: &Entry<'_>| {
            let (old, new) = (old.wrapping(), find(&now, old.project, old.name).and_then(Entry::wrapping));
            old.zip(new).is_some_and(|(old, new)| new == Wrapping { program: program.to_owned(), ..old })
        };
        if !done.iter().all(is_meant) {
            return Err(not_meant());
        }
        let record = self.record.clone().map(|mut record| {
            if record.after == Digest::of(self.text.as_bytes()) {
                record.after = Digest::of(text.as_bytes());
            }
            let repaired = |one: &&mut Wrapped| find(&done, one.project.as_deref(), &one.name).is_some();
            for one in record.servers.iter_mut().filter(repaired) {
                if let Some(entry) = find(&now, one.project.as_deref(), &one.name) {
                    *one = wrapped(&text, entry);
                }
            }
            record
        });
        Ok(Changed { text, record, servers })
    }

    pub fn unwrap(&self, chosen: Chosen<'_>) -> Result<Changed, Refusal> {
        let root = parse(self.syntax, self.text)?;
        let all = entries(self.host, &root)?;
        let record = self.record.as_ref();
        let base = record.map(|record| parse(self.syntax, &record.before)).transpose()?;
        let earlier = base.as_ref().map(|base| entries(self.host, base)).transpose()?.unwrap_or_default();
        let (mut splices, mut servers, mut done) = (Vec::new(), Vec::new(), Vec::new());
        let wrapped_now = |entry: &&Entry<'_>| entry.wrapping().is_some();
        for entry in all.iter().filter(|entry| chosen(entry.project, entry.name)).filter(wrapped_now) {
            let before = record.zip(find(&earlier, entry.project, entry.name));
            let outcome = match restored(self.text, entry, before) {
                Ok(more) => {
                    splices.extend(more);
                    done.push(entry.clone());
                    let passes = entry.node.get(APPROVAL).and_then(Node::text) == Some("approve");
                    let still = || format!("`{APPROVAL}` stays \"approve\": Codex asks about none of its calls");
                    let file = self.path.display();
                    let unknown = || format!("the old text of {file} is not known here; changed limits stay");
                    let mut notes = Vec::new();
                    if before.is_none() {
                        notes.extend((entry.limit() == Some(RAISED)).then(unknown));
                        notes.extend(passes.then(still));
                    }
                    Done::Unwrapped(notes)
                }
                Err(Refusal(why)) => Done::Left(why),
            };
            servers.push(Outcome::of(entry, outcome));
        }
        let mut text = apply(self.text, splices);
        let new = self.proven(&root, &text, &done)?;
        let now = entries(self.host, &new)?;
        let bare = |entry: &Entry<'_>| {
            find(&now, entry.project, entry.name)
                .is_some_and(|one| matches!(one.start(), Start::Unwrapped | Start::Remote))
        };
        if !done.iter().all(bare) {
            return Err(not_meant());
        }
        let is_kept =
            |one: &&Entry<'_>| wrapped_now(one) && record.is_some_and(|record| record.remembers(one.project, one.name));
        let kept: Vec<Wrapped> = now.iter().filter(is_kept).map(|one| wrapped(&text, one)).collect();
        let unchanged = record.filter(|record| record.after == Digest::of(self.text.as_bytes()));
        if let (Some(record), true) = (unchanged, kept.is_empty())
            && parse(self.syntax, &record.before)?.same(&new)
        {
            text.clone_from(&record.before);
        }
        let before = match (record, unchanged) {
            (None, _) => return Ok(Changed { text, record: None, servers }),
            (_, Some(record)) => record.before.clone(),
            (Some(_), None) if kept.is_empty() => String::new(),
            (Some(_), None) => {
                let rest = File { text: &text, ..self.clone() };
                rest.unwrap(&|project, name| kept.iter().any(|one| one.is(project, name)))?.text
            }
        };
        let (file, host) = (self.path.clone(), self.host.word.to_owned());
        let record = Record { file, host, before, after: Digest::of(text.as_bytes()), servers: kept };
        Ok(Changed { text, record: Some(record).filter(|record| !record.servers.is_empty()), servers })
    }

    /// Reads a new text, which differs from the old one in nothing but how the entries are started.
    fn proven(&self, old: &Node, text: &str, done: &[Entry<'_>]) -> Result<Node, Refusal> {
        let new = parse(self.syntax, text).map_err(|why| format!("the new text would be broken: {}", why.0))?;
        if alike(old, &new, done) { Ok(new) } else { Err(not_meant()) }
    }
}

fn not_meant() -> Refusal {
    "its new text would not be what is meant, so it was left as it is: edit it by hand".into()
}

fn find<'e, 'a>(all: &'e [Entry<'a>], project: Option<&str>, name: &str) -> Option<&'e Entry<'a>> {
    all.iter().find(|one| one.project == project && one.name == name)
}

fn wrapped(text: &str, entry: &Entry<'_>) -> Wrapped {
    Wrapped {
        project: entry.project.map(str::to_owned),
        name: entry.name.to_owned(),
        fields: fields(text, entry.whole).unwrap_or_default().to_owned(),
    }
}

fn fields<'t>(text: &'t str, node: &Node) -> Option<&'t str> {
    text.get(edit::own(node)?)
}

/// The changes that give an entry its old text: as remembered if it is as we left it, else from its own command line.
fn restored(text: &str, entry: &Entry<'_>, before: Option<(&Record, &Entry<'_>)>) -> Result<Vec<Splice>, Refusal> {
    let Some((record, before)) = before else { return edit::unwrap(text, entry) };
    let left = record.servers.iter().find(|one| one.is(entry.project, entry.name));
    if let (Some(left), Some(at), Some(old)) = (left, edit::own(entry.whole), fields(&record.before, before.whole))
        && text.get(at.clone()) == Some(left.fields.as_str())
    {
        return Ok(vec![Splice::of(at, old)]);
    }
    let mut splices = match before.address() {
        Some(_) => edit::with_address(text, entry, (&record.before, before))?,
        None => edit::unwrap(text, entry)?,
    };
    // Limits and approvals that we added or raised are undone too, if they still have our value.
    let limit = entry
        .host
        .limit
        .filter(|_| before.limit().is_none_or(|limit| limit < SHORT))
        .map(|limit| (limit.key, if limit.unit == Unit::Seconds { RAISED / 1000 } else { RAISED }.to_string()));
    let added = limit.into_iter().chain([(APPROVAL, "approve".to_owned())]);
    for (key, ours) in added {
        let is_ours = |node: &Node| matches!(&node.value, Value::Text(now) | Value::Other(now) if *now == ours);
        match (entry.whole.get(key).map(inmost).filter(|node| is_ours(node)), before.whole.get(key).map(inmost)) {
            (Some(_), None) => match without_field(text, entry.whole.fields(), key) {
                Some(splice) => splices.push(splice),
                // It cannot be taken out exactly, and a longer limit does no harm.
                None if key != APPROVAL => {}
                None => return Err(format!("take its `{APPROVAL}` out by hand first: mcp-approve wrote it").into()),
            },
            (Some(now), Some(old)) => {
                let old = record.before.get(old.span.clone()).unwrap_or(&ours);
                splices.push(Splice::of(now.span.clone(), old));
            }
            (None, _) => {}
        }
    }
    let none_before = before.node.get("args").is_none() && before.words().is_some_and(|words| words.len() == 1);
    if none_before && entry.words().is_some_and(|words| words.iter().rev().nth(1) == Some(&"--")) {
        // There was no list of arguments before: it is removed whole, in place of the changes inside it.
        if let Some(field) = without_field(text, entry.node.fields(), "args") {
            splices.retain(|splice| !splice.within(&field));
            splices.push(field);
        }
    }
    Ok(splices)
}

fn alike(old: &Node, new: &Node, done: &[Entry<'_>]) -> bool {
    // Around the `transport` of an entry, only the limit may differ.
    let around = |entry: &&Entry<'_>| std::ptr::eq(entry.whole, old) && !std::ptr::eq(entry.node, old);
    if let Some(limit) = done.iter().find(around).and_then(|entry| entry.host.limit) {
        let kept = |field: &Field| {
            new.get(&field.key).is_some_and(|now| field.key == limit.key || alike(&field.node, now, done))
        };
        return old.fields().len() == new.fields().len() && old.fields().iter().all(kept);
    }
    if let Some(entry) = done.iter().find(|entry| std::ptr::eq(entry.node, old)) {
        let is_remote = [old, new].iter().any(|node| ADDRESSES.iter().any(|key| node.get(key).is_some()));
        let ours = |key: &str| {
            ["command", "cmd", "args", APPROVAL].contains(&key)
                || entry.host.limit.is_some_and(|limit| limit.key == key)
                || (is_remote && (key == "type" || ADDRESSES.contains(&key)))
        };
        let rest = |node: &Node| node.fields().iter().filter(|field| !ours(&field.key)).count();
        let kept = |field: &Field| new.get(&field.key).is_some_and(|now| now.same(&field.node));
        return rest(old) == rest(new) && old.fields().iter().filter(|field| !ours(&field.key)).all(kept);
    }
    match (&old.value, &new.value) {
        (Value::Table(fields), Value::Table(now)) => {
            let kept = |field: &Field| new.get(&field.key).is_some_and(|now| alike(&field.node, now, done));
            fields.len() == now.len() && fields.iter().all(kept)
        }
        (Value::List(items), Value::List(now)) => {
            items.len() == now.len() && items.iter().zip(now).all(|(one, now)| alike(one, now, done))
        }
        _ => old.same(new),
    }
}

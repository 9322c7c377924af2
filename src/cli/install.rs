//! `mcp-approve install` and `uninstall`: what is said of them; how a file is changed is `hosts`' business.

pub mod choose;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};
use similar::TextDiff;

use crate::behavior::secrets;
use crate::cli::console::{self, Next, show_page};
use crate::cli::error::{Error, Exit};
use crate::cli::hosts::known_as;
use crate::cli::install::choose::{Change, ChangeOptions, Choice, InstallOptions, Way};
use crate::cli::look::{Here, JsonForm, json_rows, shown, visible};
use crate::home::{name, pages};
use crate::hosts::change::{Changed, Chosen, Done, File, Outcome};
use crate::hosts::files::{Edited, Write as Writes, edit, forget_file, remembered};
use crate::hosts::{Found, Listed, Pass, REMOTE, Refusal, Remote, Wrap, lists, masked, program};
use crate::pins::page::Page;
use crate::text::plain::block;
use crate::wire::counted;

struct FileEdit {
    found: Found,
    edited: Result<Edited, Refusal>,
}

pub(super) fn install(options: &InstallOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let how = Wrap {
        program: choose::program_path(options.program.as_deref())?,
        home: here.places.root().map(choose::path_text).transpose()?,
        remote: if options.remote { Remote::Bridge } else { Remote::Leave },
        pass: if options.codex_approve { Pass::Everything } else { Pass::Unchanged },
    };
    let found = options.change.hosts.search()?.files();
    let change = |way| Change { options: &options.change, way, here };
    if options.repair {
        // One look at each program, however many servers it wraps.
        let wrong = RefCell::new(BTreeMap::new());
        let is_wrong =
            |named: &str| *wrong.borrow_mut().entry(named.to_owned()).or_insert_with(|| program(named).is_wrong());
        let work = |file: &File<'_>, chosen: Chosen<'_>| file.repair(chosen, &how.program, &is_wrong);
        return change(Way::Repair).make(
            found,
            Some(Choice::given(&options.change).unwrap_or(Choice::ALL)),
            &work,
            out,
        );
    }
    let work = |file: &File<'_>, chosen: Chosen<'_>| file.wrap(chosen, &how);
    change(Way::In).make(found, Choice::given(&options.change), &work, out)
}

pub(super) fn uninstall(options: &ChangeOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let mut found = options.hosts.search()?.files();
    // The records also name files of projects that this folder is not in.
    let records = here.places.installed_dir();
    for one in remembered(&records) {
        let known = |known: &Found| std::fs::canonicalize(&known.file).is_ok_and(|known| known == one.file);
        if !one.file.exists() {
            let forgotten = forget_file(&records, &one.file);
            let hint = "`mcp-approve doctor` says whether our own folders are in order";
            forgotten.map_err(|Refusal(why)| Error::wrong(why, hint))?;
        } else if !found.iter().any(known) {
            found.push(one);
        }
    }
    let work = |file: &File<'_>, chosen: Chosen<'_>| file.unwrap(chosen);
    Change { options, way: Way::Out, here }.make(found, Choice::given(options), &work, out)
}

type Work<'w> = &'w dyn Fn(&File<'_>, Chosen<'_>) -> Result<Changed, Refusal>;

impl Change<'_> {
    fn make(&self, found: Vec<Found>, given: Option<Choice>, work: Work<'_>, out: &mut dyn Write) -> Exit {
        let Self { options, here: Here { places, .. }, .. } = *self;
        let records = places.installed_dir();
        if !options.dry_run {
            places.create_state()?;
        }
        let was_picked = given.is_none();
        let choice = match given {
            None => choose::pick(&lists(&found), self, out)?,
            given => given,
        };
        let Some(choice) = choice else { return Ok(ExitCode::SUCCESS) };
        let writes = if options.dry_run { Writes::Never } else { Writes::Now };
        let wanted = found.into_iter().filter(|found| choice.may_be_in(found) && !found.is_bundle);
        let edits = wanted.map(|found| {
            let chosen = |project: Option<&str>, name: &str| choice.has(&found, project, name);
            let edited = edit(&found, &records, writes, &|file| work(&file, &chosen));
            FileEdit { found, edited }
        });
        let edits: Vec<FileEdit> = edits.collect();
        if !edits.iter().any(FileEdit::is_worth_a_word) {
            return self.nothing(&choice, out);
        }
        let shown = edits.iter().filter(|edit| edit.is_worth_a_word());
        if options.json {
            json_rows(shown.flat_map(|edit| edit.rows(options.dry_run)), JsonForm::Array, out)?;
        } else {
            for edit in shown {
                edit.print(options.dry_run, out)?;
            }
            self.closing(&edits, out)?;
            // What the options chose needs no question.
            if self.way == Way::In && !options.dry_run && was_picked {
                offer_pages(&edits, self.here, out)?;
            }
        }
        let left = |one: &Outcome| matches!(&one.done, Done::Left(why) if !why.starts_with(REMOTE) || !options.server.is_empty());
        let whole =
            edits.iter().all(|edit| edit.edited.as_ref().is_ok_and(|edited| !edited.changed.servers.iter().any(left)));
        Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn nothing(&self, choice: &Choice, out: &mut dyn Write) -> Exit {
        let Self { options, way, .. } = *self;
        if way == Way::Repair && !options.json {
            writeln!(out, "Nothing to repair: each wrapped server of these starts the program that runs now.")?;
            return Ok(ExitCode::SUCCESS);
        }
        if !choice.is_all() && way != Way::Repair {
            let hint = match way {
                Way::In | Way::Repair => format!("`{}` lists them", self.command("install")),
                Way::Out => format!("`{}` lists those that are wrapped", self.command("uninstall")),
            };
            return Err(Error::wrong("no server of a host matches that", hint));
        }
        match (options.json, way) {
            (true, _) | (false, Way::Repair) => writeln!(out, "[]")?,
            (false, Way::In) => writeln!(out, "No host on this machine lists a server.")?,
            (false, Way::Out) => writeln!(out, "No server of a host is wrapped.")?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn closing(&self, edits: &[FileEdit], out: &mut dyn Write) -> Result<(), Error> {
        let Self { options, way, here: Here { places, .. } } = *self;
        let command = |words: &str| visible(&self.command(words));
        let all = || edits.iter().filter_map(|edit| edit.edited.as_ref().ok().map(|edited| (edit, edited)));
        let changed = |done: &Done| matches!(done, Done::Wrapped(_) | Done::Unwrapped(_) | Done::Repaired(_));
        let count: usize =
            all().flat_map(|(_, edited)| &edited.changed.servers).filter(|one| changed(&one.done)).count();
        let servers = counted(count, "server");
        if options.dry_run {
            return Ok(writeln!(out, "Nothing was changed. Without --dry-run, this changes {servers}.")?);
        }
        let remote = |one: &Outcome| one.done == Done::Left(REMOTE.to_owned());
        let remote = all().flat_map(|(_, edited)| &edited.changed.servers).filter(|one| remote(one)).count();
        if remote > 0 && way == Way::In {
            let them = if remote == 1 { "One server is" } else { "Some servers are" };
            writeln!(
                out,
                "{them} reached over the network: --remote wraps that too, through mcp-remote (needs Node.js)."
            )?;
        }
        if count == 0 {
            return Ok(());
        }
        if way == Way::Repair {
            return Ok(writeln!(out, "Repaired {servers}. Restart the hosts.")?);
        }
        if way == Way::Out {
            return Ok(writeln!(
                out,
                "Unwrapped {servers}. Restart the hosts: mcp-approve then neither holds nor records their calls."
            )?);
        }
        let console = visible(&places.console());
        writeln!(out, "Wrapped {servers}. Restart the hosts, then open the console with `{console}`.")?;
        let quiet = |(edit, edited): (&FileEdit, &Edited)| {
            edit.found.host.word == "codex" && !edited.changed.text.contains("default_tools_approval_mode")
        };
        if all().any(quiet) {
            let two = ["uninstall --host codex", "install --host codex --codex-approve"].map(command).join("\n  ");
            writeln!(
                out,
                "Codex refuses some calls before mcp-approve sees them. To decide them here, run these two commands:\n  {two}"
            )?;
        }
        self.ask_once(edits, out)?;
        let undo = command("uninstall --all");
        writeln!(out, "A host may ask for trust again for a project's servers. To undo all of this: {undo}")?;
        Ok(())
    }
}

impl Change<'_> {
    /// Says which line stops a host from asking about calls itself, and what that gives up.
    fn ask_once(&self, edits: &[FileEdit], out: &mut dyn Write) -> Result<(), Error> {
        let mut hosts: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for edit in edits {
            let (Some(once), Ok(edited)) = (edit.found.host.once, &edit.edited) else { continue };
            let says_so = edited.changed.text.contains(once.line);
            let wrapped = edited.changed.servers.iter().filter(|one| matches!(one.done, Done::Wrapped(_)) && !says_so);
            let lines =
                wrapped.map(|one| (once.place.replace("NAME", &one.name), once.line.replace("NAME", &one.name)));
            let lines: Vec<String> = lines.map(|(place, line)| format!("{line}   ({place})")).collect();
            if !lines.is_empty() {
                hosts.entry(edit.found.host.name).or_default().extend(lines);
            }
        }
        for (host, lines) in &hosts {
            writeln!(
                out,
                "{host} asks about calls itself, before mcp-approve does. To be asked only here, tell it so:"
            )?;
            lines.iter().try_for_each(|line| writeln!(out, "    {}", visible(line)))?;
        }
        if !hosts.is_empty() {
            writeln!(
                out,
                "That gives up the host's own question: if a server ever runs without mcp-approve, nothing asks."
            )?;
        }
        Ok(())
    }
}

impl FileEdit {
    fn is_worth_a_word(&self) -> bool {
        self.edited.as_ref().map_or(true, |edited| !edited.changed.servers.is_empty())
    }

    fn print(&self, dry_run: bool, out: &mut dyn Write) -> Result<(), Error> {
        writeln!(out, "{} ({})", self.found.host.name, shown(&self.found.file))?;
        match &self.edited {
            Err(Refusal(why)) => writeln!(out, "  left as it is: {}", visible(why))?,
            Ok(edited) => {
                for one in &edited.changed.servers {
                    let project = one.project.as_ref().map(|project| format!(" (for {project})")).unwrap_or_default();
                    let name = visible(&format!("{}{project}", one.name));
                    writeln!(out, "  {name}: {}", visible(&said(&one.done, dry_run)))?;
                }
                if dry_run {
                    write!(out, "{}", diff(&self.found, edited))?;
                }
            }
        }
        Ok(())
    }

    fn rows(&self, dry_run: bool) -> Vec<Value> {
        let file = self.found.file.display().to_string();
        match &self.edited {
            Err(Refusal(why)) => {
                vec![json!({ "host": self.found.host.word, "file": file, "done": "failed", "why": why })]
            }
            Ok(edited) => {
                let diff = dry_run.then(|| diff(&self.found, edited));
                let row = |one: &Outcome| {
                    let (done, notes) = match &one.done {
                        Done::Wrapped(notes) => (if dry_run { "would-wrap" } else { "wrapped" }, notes.clone()),
                        Done::Unwrapped(notes) => (if dry_run { "would-unwrap" } else { "unwrapped" }, notes.clone()),
                        Done::Repaired(was) => (if dry_run { "would-repair" } else { "repaired" }, vec![was.clone()]),
                        Done::Already => ("already", Vec::new()),
                        Done::Left(why) => ("left", vec![why.clone()]),
                    };
                    json!({
                        "host": self.found.host.word, "file": file, "project": one.project, "server": one.name,
                        "done": done, "notes": notes, "diff": diff,
                    })
                };
                edited.changed.servers.iter().map(row).collect()
            }
        }
    }
}

fn said(done: &Done, dry_run: bool) -> String {
    let done_so = |word: &str, notes: &[String]| {
        let word = if dry_run { format!("would be {word}") } else { word.to_owned() };
        [&[word], notes].concat().join("; ")
    };
    match done {
        Done::Wrapped(notes) => done_so("wrapped", notes),
        Done::Unwrapped(notes) => done_so("unwrapped", notes),
        Done::Repaired(was) => done_so("repaired", &[format!("it started {was}")]),
        Done::Already => "wrapped already".to_owned(),
        Done::Left(why) => format!("left as it is: {why}"),
    }
}

/// The longest line of a diff that is shown; a file without line breaks is one.
const WIDEST: usize = 4000;

/// A unified diff of a file's text, without any value but command lines and limits. Every line is fit for a terminal.
fn diff(found: &Found, edited: &Edited) -> String {
    let is_hidden = |before: Option<&str>, word: &str| {
        before.is_some_and(secrets::is_secret_flag) || !secrets::spans(word).is_empty()
    };
    let shown = |text: &str| masked(found.host, found.syntax, text, &is_hidden);
    let (Ok(before), Ok(after)) = (shown(&edited.before), shown(&edited.changed.text)) else {
        return "  (it cannot be shown)\n".to_owned();
    };
    let diff = TextDiff::from_lines(&before, &after);
    let line = |line: &str| {
        // The diff's own mark is no part of the line.
        let mut rest = line.chars();
        let mark = rest.next().map(String::from).unwrap_or_default();
        let rest: String = rest.take(WIDEST).collect();
        format!("    {mark}{}", block(&rest)).trim_end().to_owned() + "\n"
    };
    diff.unified_diff().context_radius(1).missing_newline_hint(false).to_string().lines().map(line).collect()
}

fn offer_pages(edits: &[FileEdit], here: Here<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let pages = if console::is_here() { pages_of(edits, here) } else { Vec::new() };
    if pages.is_empty() {
        return Ok(());
    }
    let them = counted(pages.len(), "of these servers|of these servers");
    writeln!(out, "We reviewed {them}: you can say now which of the tools may run unasked.")?;
    let later = here.places.command("tools review");
    let question = format!("y: show the page of each   Enter: later, with `{later}` >");
    if console::ask(&question, out)?.as_deref() == Some("y") {
        for page in pages {
            if show_page(page, here, out)? == Next::Leave {
                break;
            }
        }
    }
    Ok(())
}

/// The page of each server that was wrapped, once a command line.
fn pages_of(edits: &[FileEdit], here: Here<'_>) -> Vec<Page> {
    let first_use = pages::first_use(here.places);
    let mut all = BTreeMap::new();
    for edit in edits {
        let Ok(edited) = &edit.edited else { continue };
        let is_wrapped = |listed: &&Listed| {
            edited.changed.servers.iter().any(|one| {
                matches!(one.done, Done::Wrapped(_)) && (&one.project, &one.name) == (&listed.project, &listed.name)
            })
        };
        let found: &Found = &edit.found;
        for listed in lists(std::slice::from_ref(found)).servers.iter().filter(is_wrapped) {
            let Some(wrapping) = &listed.wrapping else { continue };
            let command: Vec<OsString> = wrapping.server.iter().map(OsString::from).collect();
            let page = pages::of_list(&name::launch(&known_as(listed), &command), first_use);
            all.extend(page.map(|page| ((page.server.clone(), page.fingerprint.clone()), page)));
        }
    }
    all.into_values().collect()
}

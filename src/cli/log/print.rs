//! How records look on a terminal. The folder that most targets lie in is written once above the list, `./` in its rows.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Deserialize;
use serde_json::Value;

use crate::audit::{Clock, Record, fields::TEXTS};
use crate::cli::look::{Look, visible};
use crate::operator::found::Line;
use crate::operator::record_row::{Names, RecordColumns, sentence};
use crate::text::row::{Row, Tone};
use crate::text::{columns::cell, time};

const UNREADABLE: &str = "UNREADABLE";

pub(super) fn table(records: &[Record], look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut lines: Vec<Line> = records.iter().map(line).collect();
    let times: Vec<String> = lines.iter().map(|line| moment(line, look)).collect();
    let when = times.iter().map(String::len).max().unwrap_or(0).max(4);
    let newest = lines.iter().map(|line| line.seq).max().unwrap_or(0);
    let names = if look.is_wide() { Names::Shown(newest) } else { Names::Numbered(newest) };
    let columns_of = |lines: &[Line]| RecordColumns::of(&lines.iter().collect::<Vec<_>>(), look.width, when, names);
    let mut columns = columns_of(&lines);
    if !columns.hold(&lines)
        && let Some(folder) = common_folder(lines.iter().filter_map(|line| line.target.as_deref()))
    {
        let shorter =
            |line: &Line| Line { target: line.target.as_deref().map(|one| shorten(&folder, one)), ..line.clone() };
        let short: Vec<Line> = lines.iter().map(shorter).collect();
        let fitted = columns_of(&short);
        // The heading helps only if more than one row still shows `./` after the columns are cut.
        if short.iter().filter(|line| fitted.target(line).text().contains(HERE)).count() > 1 {
            let heading = format!("{HERE} is ");
            let heading = Row::of(Tone::Quiet, heading).and_foreign(Tone::Quiet, &folder).and(Tone::Quiet, "/");
            look.print(&heading, out)?;
            (lines, columns) = (short, fitted);
        }
    }
    look.print(&columns.heading(), out)?;
    for ((record, line), time) in records.iter().zip(&lines).zip(&times) {
        let mut row = columns.row(line, time);
        if look.is_wide() {
            row = row.and(Tone::Ours, "  ").joined(hashes(record));
        }
        look.print(&row, out)?;
    }
    Ok(())
}

/// What a call was, and what its records say happened, one below the other. Nothing of it is cut.
pub(super) fn timeline(records: &[Record], look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let lines: Vec<Line> = records.iter().map(line).collect();
    if lines.is_empty() {
        return Ok(());
    }
    if let Some(line) = lines.iter().find(|line| line.tool.is_some()) {
        let name = [line.ticket.as_deref(), line.tool.as_deref()].into_iter().flatten().collect::<Vec<_>>().join("  ");
        let row = cell(Tone::Strong, &name).and(Tone::Ours, " on ").and_foreign(Tone::Ours, &line.server);
        let target = lines.iter().find_map(|line| line.target.as_deref());
        let row = target.map_or(row.clone(), |target| row.and(Tone::Ours, ": ").and_foreign(Tone::Ours, target));
        look.print(&row, out)?;
    }
    for line in lines {
        let time = line.time.map_or_else(String::new, |at| time::date(at, look.clock.offset));
        let row = Row::of(Tone::Quiet, format!("{time}  ")).joined(sentence(&line));
        look.print(&row, out)?;
    }
    writeln!(out)
}

fn line(record: &Record) -> Line {
    match record.fields() {
        Some(_) => Line::of(record),
        None => Line { kind_word: UNREADABLE.to_owned(), note: record.body.clone(), ..Line::of(record) },
    }
}

fn moment(line: &Line, look: Look<'_>) -> String {
    let Clock { now, offset } = look.clock;
    line.time.map_or_else(String::new, |at| match look.is_wide() {
        true => time::date(at, offset),
        false => time::moment(at, now, offset),
    })
}

fn hashes(record: &Record) -> Row {
    let fields = record.fields();
    let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let identity = text(fields.as_ref().and_then(|fields| fields.identity.as_deref()));
    let digest = text(fields.as_ref().and_then(|fields| fields.digest.as_deref()));
    let link = text(record.link.map(|link| link.to_string()).as_deref());
    Row::default().and_foreign(Tone::Quiet, &format!("{identity} {digest} {link}"))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Explained {
    explained: String,
}

/// Records in full, one after the other: what several of them have in common comes first, once.
pub(super) fn whole(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    let all: Vec<Vec<(&str, String)>> = records.iter().map(entries).collect();
    let is_common = |entry: &(&str, String)| {
        let mut same = all.iter().flatten().filter(|other| other.0 == entry.0);
        records.len() > 1 && same.clone().count() > 1 && same.all(|other| other.1 == entry.1)
    };
    let mut common: Vec<&(&str, String)> = Vec::new();
    for entry in all.iter().flatten().filter(|entry| is_common(entry)) {
        if !common.contains(&entry) {
            common.push(entry);
        }
    }
    let mut part = |title: &str, entries: &[&(&str, String)]| {
        writeln!(out, "{title}")?;
        entries.iter().try_for_each(|(name, value)| writeln!(out, "  {name:<10} {value}"))?;
        writeln!(out)
    };
    if !common.is_empty() {
        part("the call", &common)?;
    }
    records.iter().zip(&all).try_for_each(|(record, entries)| {
        let own: Vec<_> = entries.iter().filter(|entry| !common.contains(entry)).collect();
        let origin = record.origin.as_ref().map(|of| format!(" ({} of {})", of.seq, visible(&of.machine)));
        part(&format!("record {}{}", record.seq, origin.unwrap_or_default()), &own)
    })
}

fn entries(record: &Record) -> Vec<(&'static str, String)> {
    let Some(fields) = record.fields() else { return vec![(UNREADABLE, visible(&record.body))] };
    let latency = fields.latency_ms.map(|json| format!("{} ms", json.get()));
    let explained = fields.detail::<Explained>().unwrap_or_default().explained;
    let others = [
        ("explained", Some(explained.as_str()).filter(|line| !line.is_empty())),
        ("latency", latency.as_deref()),
        ("assurance", fields.assurance.as_deref()),
        ("policy", fields.policy.as_deref()),
    ];
    let texts = TEXTS.into_iter().zip(fields.texts()).chain(others);
    let texts = texts.filter_map(|(name, value)| Some((name, visible(value?))));
    let link = record.link.map(|link| ("link", link.to_string()));
    let json = [("arguments", fields.arguments), ("cut", fields.cut), ("detail", fields.detail)];
    let json = json.into_iter().filter_map(|(name, value)| Some((name, value.filter(|json| json.get() != "{}")?)));
    texts.chain(link).chain(json.map(|(name, value)| (name, indented(value.get())))).collect()
}

/// A JSON text over several lines under its name, hidden characters visible; one that cannot be read stays a line.
fn indented(json: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(json) else { return visible(json) };
    let lines: Vec<String> = format!("{value:#}").lines().map(indented_line).collect();
    lines.join(&format!("\n{:13}", ""))
}

pub(super) fn indented_line(line: &str) -> String {
    let text = line.trim_start_matches(' ');
    format!("{}{}", " ".repeat(line.len() - text.len()), visible(text))
}

pub(super) const HERE: &str = "./";

/// The absolute folder, without a slash at its end, whose omission saves the most; `None` where no folder has two
/// targets, or where a call wrote `./` itself.
fn common_folder<'t>(targets: impl Iterator<Item = &'t str> + Clone) -> Option<String> {
    if targets.clone().any(|target| paths(target).any(|(_, path)| path.starts_with("./"))) {
        return None;
    }
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    for target in targets {
        let mut above: Vec<&str> = paths(target).flat_map(|(_, path)| folders(path)).collect();
        above.sort_unstable();
        above.dedup();
        above.into_iter().for_each(|folder| *rows.entry(folder).or_default() += 1);
    }
    let saved = |(folder, rows): &(&str, usize)| (folder.len() - 1) * rows;
    let best = rows.into_iter().filter(|(_, rows)| *rows > 1).max_by_key(saved)?;
    Some(best.0.to_owned())
}

pub(super) fn shorten(folder: &str, target: &str) -> String {
    let mut out = String::with_capacity(target.len());
    let mut from = 0;
    for (at, path) in paths(target) {
        let Some(rest) = path.strip_prefix(folder) else { continue };
        let Some(rest) = rest.strip_prefix('/').or(rest.is_empty().then_some(rest)) else { continue };
        out.push_str(target.get(from..at).unwrap_or_default());
        out.push_str(HERE);
        from = at + path.len() - rest.len();
    }
    out + target.get(from..).unwrap_or_default()
}

/// The paths in a target, each with its place: the words with a slash, without a comma or colon at their end.
fn paths(target: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = target.split(' ').scan(0, |at, word| {
        let here = *at;
        *at += word.len() + 1;
        Some((here, word))
    });
    words.map(|(at, word)| (at, word.strip_suffix([',', ':']).unwrap_or(word))).filter(|(_, word)| word.contains('/'))
}

/// Folders above an absolute path, two names deep or more; of plain characters, so that the heading shows exactly one.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    path.match_indices('/').filter_map(move |(end, _)| path.get(..end)).filter(move |folder| {
        folder.starts_with('/')
            && !folder.ends_with('/')
            && folder.matches('/').count() > 1
            && folder.chars().all(plain)
    })
}

#[cfg(test)]
mod tests {
    use super::{common_folder, shorten};

    #[test]
    fn the_folder_that_saves_the_most_is_left_out_of_every_path_in_it() {
        let targets = [
            "/home/ada/engine/README.md",
            "/home/ada/engine",
            "/home/ada/engine/src/a.rs → /home/ada/engine/src/b.rs",
            "2 paths: /home/ada/engine/x, /home/ada/engine-2/y",
            "/etc/passwd",
            "notes.md",
            "/home/ada/engine: topic/x",
            "DELETE on people",
        ];
        let folder = common_folder(targets.into_iter()).unwrap();
        assert_eq!(folder, "/home/ada/engine");
        assert_eq!(
            targets.map(|target| shorten(&folder, target)),
            [
                "./README.md", "./", "./src/a.rs → ./src/b.rs", "2 paths: ./x, /home/ada/engine-2/y", "/etc/passwd",
                "notes.md", "./: topic/x", "DELETE on people",
            ]
        );
    }

    #[test]
    fn nothing_is_left_out_where_it_could_be_mistaken() {
        for targets in [
            &["/home/ada/a", "/srv/b"][..],
            &["/a", "/b"],
            &["/home/ada/a", "/home/ada/b", "./c"],
            &["/home/a\u{202e}da/a", "/home/a\u{202e}da/b"],
            &["https://one/two/three", "https://one/two/four"],
        ] {
            assert_eq!(common_folder(targets.iter().copied()), None, "{targets:?}");
        }
    }
}

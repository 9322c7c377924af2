//! Man pages, made from the command line's own definition and the help topics: no page is written by hand.
//!
//! `MAN_DIR=DIR cargo test --test whole cli::man -- --ignored` writes them; `assets/packaging/man` does that.

use clap::{Arg, Command, CommandFactory as _};
use mcp_approve::cli::args::Cli;
use mcp_approve::cli::help::{HelpBlock, blocks};
use mcp_approve::cli::help::{TOPICS, topic};

/// Each page's file name and text.
fn pages() -> Vec<(String, String)> {
    let mut cli = Cli::command();
    cli.build();
    let mut pages = Vec::new();
    commands(&cli, "mcp-approve", &mut pages);
    for (name, _) in TOPICS {
        pages.push((format!("mcp-approve-{name}.7"), of_topic(name)));
    }
    pages
}

fn commands(command: &Command, name: &str, pages: &mut Vec<(String, String)>) {
    pages.push((format!("{name}.1"), of_command(command, name)));
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help") {
        commands(inner, &format!("{name}-{}", inner.get_name()), pages);
    }
}

fn of_command(command: &Command, name: &str) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = head(name, 1, &about);
    let usage = command.clone().render_usage().to_string();
    page += &format!(".SH SYNOPSIS\n{}", unfilled(usage.trim_start_matches("Usage: ").lines().map(str::trim)));
    if let Some(long) = command.get_long_about() {
        page += &format!(".SH DESCRIPTION\n{}", paragraphs(&long.to_string()));
    }
    let (options, words): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(|arg| !arg.is_hide_set()).partition(|arg| !arg.is_positional());
    for (title, args) in [("ARGUMENTS", words), ("OPTIONS", options)] {
        if !args.is_empty() {
            page += &format!(".SH {title}\n{}", args.into_iter().map(option).collect::<String>());
        }
    }
    let inner: Vec<&Command> = command.get_subcommands().filter(|inner| !inner.is_hide_set()).collect();
    if !inner.is_empty() {
        page += ".SH COMMANDS\n";
    }
    for one in inner {
        let about = one.get_about().map(ToString::to_string).unwrap_or_default();
        page += &format!(".TP\n\\fB{}\\fR\n{}\n", escaped(one.get_name()), line(&about));
    }
    if let Some(after) = command.get_after_help() {
        page += &format!(".SH NOTES\n{}", unfilled(after.to_string().lines()));
    }
    page + ".SH SEE ALSO\n" + &TOPICS.map(|(name, _)| format!("\\fBmcp\\-approve\\-{name}\\fR(7)")).join(", ") + "\n"
}

fn option(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let names: Vec<String> = short.into_iter().chain(arg.get_long().map(|long| format!("--{long}"))).collect();
    let takes = arg.is_positional() || arg.get_action().takes_values();
    let values =
        arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let values = if takes { format!(" \\fI{}\\fR", escaped(&values)) } else { String::new() };
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let one_of: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let one_of = if takes && !one_of.is_empty() { format!(" One of: {}.", one_of.join(", ")) } else { String::new() };
    format!(".TP\n\\fB{}\\fR{values}\n{}\n", escaped(&names.join(", ")), line(&(help.replace('\n', " ") + &one_of)))
}

fn of_topic(name: &str) -> String {
    let text = topic(name).unwrap();
    let about = text.lines().next().and_then(|first| first.split_once(": ")).unwrap().1;
    let mut page = head(&format!("mcp-approve-{name}"), 7, about) + ".SH DESCRIPTION\n";
    for block in blocks(&text).into_iter().skip(1) {
        page += &match block {
            HelpBlock::Heading(text) => format!(".SH {}\n", line(&text.to_uppercase())),
            HelpBlock::Paragraph(text) => format!(".PP\n{}\n", line(&text)),
            HelpBlock::Item(text) => format!(".IP \\(bu 2\n{}\n", line(&text)),
            HelpBlock::Code(lines) => unfilled(lines.iter().map(String::as_str)),
            HelpBlock::Table(rows) => rows.iter().skip(1).fold(String::new(), |rows, cells| {
                let rest: Vec<String> = cells[1..].iter().map(|cell| line(cell)).collect();
                rows + &format!(".TP\n{}\n{}\n", line(&cells[0]), rest.join("\n.br\n"))
            }),
        };
    }
    page
}

fn head(name: &str, section: u8, about: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let title = format!(".TH {} {section} \"\" \"mcp\\-approve {version}\"\n", escaped(&name.to_uppercase()));
    format!("{title}.nh\n.SH NAME\n{} \\- {}\n", escaped(name), line(about))
}

fn paragraphs(text: &str) -> String {
    text.split("\n\n").map(|part| format!(".PP\n{}\n", line(&part.replace('\n', " ")))).collect()
}

/// Lines that stay as they are.
fn unfilled<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let lines: String = lines.map(|text| escaped(text) + "\n").collect();
    format!(".PP\n.RS 4\n.nf\n{lines}.fi\n.RE\n")
}

/// One line of running text, with `code` and **strong** in bold.
fn line(text: &str) -> String {
    let pieces = text.replace("**", "`");
    let pieces = pieces.split('`').enumerate();
    let drawn = pieces.map(|(at, piece)| match at % 2 {
        0 => escaped(piece),
        _ => format!("\\fB{}\\fR", escaped(piece)),
    });
    let drawn: String = drawn.collect();
    // A word that begins a line with a dot would be a request.
    if drawn.starts_with(['.', '\'']) { format!("\\&{drawn}") } else { drawn }
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[test]
fn every_command_and_topic_has_its_page() {
    let pages = pages();
    let page = |name: &str| &pages.iter().find(|(file, _)| file == name).unwrap_or_else(|| panic!("no {name}")).1;
    for (name, text) in &pages {
        assert!(text.starts_with(".TH ") && text.contains("\n.SH NAME\n"), "{name}");
        // A line that begins with a dot or a quote is a request: only those that are known.
        let requests = text.lines().filter(|line| line.starts_with(['.', '\'']));
        for request in requests.map(|line| line.split(' ').next().unwrap_or_default()) {
            let known =
                [".TH", ".nh", ".SH", ".PP", ".TP", ".IP", ".RS", ".RE", ".nf", ".fi", ".br"].contains(&request);
            assert!(known, "{name}: {request}");
        }
    }
    assert!(page("mcp-approve.1").contains(".TP\n\\fB\\-\\-home\\fR \\fIDIR\\fR\nKeep configuration"));
    assert!(page("mcp-approve-rules-add.1").contains("\\fB\\-\\-dry\\-run\\fR\n"));
    assert!(page("mcp-approve-keys.7").contains("Approves the call on screen"));
    assert!(page("mcp-approve-rules.7").contains("\n.nf\nversion = 1\n"));
}

#[test]
#[ignore = "writes the man pages into MAN_DIR; assets/packaging/man runs it"]
fn write_the_man_pages() {
    let folder = std::path::PathBuf::from(std::env::var_os("MAN_DIR").expect("MAN_DIR"));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in pages() {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

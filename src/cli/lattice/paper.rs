//! `lattice paper`: the behavioral identity paper's pairs and wrong choices, played here without a model, beside the figures that
//! it gives. Tools and prompts are data (`assets/paper.txt`); what is counted comes from the recogniser, the schema and `--expect`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use crate::behavior::conclude::{Trust, of_call, of_tool};
use crate::behavior::expected::Expected;
use crate::behavior::taxonomy::ContentType;
use crate::behavior::words::section;
use crate::behavior::{Behavior, Identity, OutputDomain};
use crate::capability::schema::{Fits, Schema};
use crate::cli::error::Exit;
use crate::cli::look::{Here, Look, json_object};
use crate::mcp::Tool;
use crate::text::row::{Row, Tone};

const DATA: &str = include_str!("../../../assets/paper.txt");

#[derive(Clone, Copy, Debug, Args)]
pub struct PaperOptions {
    /// List each wrong choice and each unseen tool too
    #[arg(long)]
    pub all: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

struct Known {
    tool: Tool,
    behavior: Behavior,
    /// What we wrote down that it is.
    written: (Identity, ContentType),
}

/// Whether two tools differ in the three fields, and in the fourth.
#[derive(Clone, Copy)]
struct Apart {
    identity: bool,
    content: bool,
}

/// One wrong choice: the wrong tool is called with the arguments that the task needs.
struct Played {
    prompt: &'static str,
    right: &'static str,
    wrong: &'static str,
    schema: bool,
    apart: Apart,
}

pub(super) fn run(options: PaperOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let (known, unseen) = (tools(section(DATA, "tools")), tools(section(DATA, "unseen")));
    let of = |name: &str| known.iter().find(|known| known.tool.name == name);
    let pairs = rows(section(DATA, "pairs")).filter_map(|[severity, one, other, of_whom]| {
        let (is, other_is) = (&of(one)?.behavior, &of(other)?.behavior);
        let content = is.content_type != other_is.content_type;
        Some((severity, one, other, of_whom, Apart { identity: is.identity != other_is.identity, content }))
    });
    let pairs: Vec<Pair> = pairs.collect();
    let played = rows(section(DATA, "prompts")).filter_map(|[prompt, right, wrong, arguments]| {
        let arguments = serde_json::from_str(arguments).ok()?;
        let (schema, apart) = play(of(right)?, of(wrong)?, &arguments)?;
        Some(Played { prompt, right, wrong, schema, apart })
    });
    let played: Vec<Played> = played.collect();
    if options.json {
        json_object(object(&pairs, &played, [&known, &unseen]), out)?;
    } else {
        text(options, (&pairs, &played), [&known, &unseen], Look::here(here), out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the schema refuses the call, and whether it is not what the task expects; `None` where the right tool takes no such
/// arguments.
fn play(right: &Known, wrong: &Known, arguments: &Value) -> Option<(bool, Apart)> {
    let fits = |known: &Known| Some(Schema::compile(&known.tool.input_schema).ok()?.check(arguments) == Fits::Yes);
    let schema = fits(right)?.then(|| fits(wrong)).flatten()?;
    let right = &right.behavior;
    let call = of_call(Some(&wrong.tool), &wrong.behavior, arguments);
    let differs = |expected: String| Some(expected.parse::<Expected>().ok()?.mismatch(&call).is_some());
    let identity = differs(right.identity.hash().to_owned())?;
    Some((!schema, Apart { identity, content: differs(format!("*|*|*|{}", right.content_type.word()))? }))
}

type Pair = (&'static str, &'static str, &'static str, &'static str, Apart);

/// The columns of each row of a section.
fn rows<const N: usize>(section: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let rows = section.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.filter_map(|row| row.split('\t').collect::<Vec<_>>().try_into().ok())
}

fn tools(section: &'static str) -> Vec<Known> {
    let known = |[name, written, parameters, description]: [&str; 4]| {
        let (identity, content) = written.rsplit_once('|')?;
        let written = (identity.parse().ok()?, ContentType::from_word(content)?);
        let tool = Tool::read(json!({
            "name": name, "description": description, "inputSchema": schema(parameters),
        }))?;
        Some(Known { behavior: of_tool(&tool, Trust::Corroborate), tool, written })
    };
    rows(section).filter_map(known).collect()
}

fn schema(parameters: &str) -> Value {
    let (mut properties, mut required) = (serde_json::Map::new(), Vec::new());
    for parameter in parameters.split_whitespace() {
        let name = parameter.trim_end_matches(['?', '#', '[', ']']);
        let is = |mark: char| parameter[name.len()..].contains(mark);
        let kind = if is('#') {
            "number"
        } else if is('[') {
            "array"
        } else {
            "string"
        };
        properties.insert(name.to_owned(), json!({ "type": kind }));
        if !is('?') {
            required.push(name);
        }
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// One line of the comparison: here by the three fields, with the fourth, and the paper's.
type Line = (String, String, String, &'static str);

fn share(part: usize, all: usize) -> String {
    let percent = (100 * part + all / 2).checked_div(all).unwrap_or_default();
    format!("{part} of {all} ({percent} %)")
}

fn lines(pairs: &[Pair], played: &[Played], [known, unseen]: [&[Known]; 2]) -> Vec<(&'static str, Vec<Line>)> {
    let paper: BTreeMap<&str, &'static str> =
        rows(section(DATA, "figures")).map(|[key, figure]| (key, figure)).collect();
    let figure = |key: &str| paper.get(key).copied().unwrap_or("-");
    let line = |label: &str, here: String, fourth: String| (label.to_owned(), here, fourth, figure(label));
    let of_pairs = |severity: &str| {
        let its = || pairs.iter().filter(|(its, ..)| severity == "all" || *its == severity).map(|(.., apart)| apart);
        let of = |apart: fn(&&Apart) -> bool| format!("{} of {}", its().filter(apart).count(), its().count());
        line(severity, of(|apart| apart.identity), of(|apart| apart.identity || apart.content))
    };
    let count =
        |caught: fn(&Played) -> [bool; 2], wanted: [bool; 2]| played.iter().filter(|one| caught(one) == wanted).count();
    let three: fn(&Played) -> [bool; 2] = |one| [one.apart.identity, one.schema];
    let four: fn(&Played) -> [bool; 2] = |one| [one.apart.identity || one.apart.content, one.schema];
    let caught =
        |label: &str, wanted: [bool; 2]| line(label, count(three, wanted).to_string(), count(four, wanted).to_string());
    let rate = |label: &str, at: usize| {
        let of = |by: fn(&Played) -> [bool; 2]| share(played.iter().filter(|one| by(one)[at]).count(), played.len());
        line(label, of(three), of(four))
    };
    let recognised = |label: &str, tools: &[Known], key: &str| {
        let of =
            |same: fn(&Known) -> bool| format!("{} of {}", tools.iter().filter(|one| same(one)).count(), tools.len());
        let whole = of(|one| one.behavior.identity == one.written.0);
        let fourth = of(|one| (one.behavior.identity, one.behavior.content_type) == one.written);
        (label.to_owned(), whole, fourth, figure(key))
    };
    let of_unseen = |label: &str, same: fn(&&Known) -> bool, key: &str| {
        let here = format!("{} of {}", unseen.iter().filter(same).count(), unseen.len());
        (label.to_owned(), here, String::new(), figure(key))
    };
    vec![
        ("Pairs separated (Table 4)", ["CRITICAL", "HIGH", "MEDIUM", "LOW", "all"].map(of_pairs).into()),
        (
            "Who catches a wrong choice (Table 5)",
            vec![
                line("wrong choices", played.len().to_string(), played.len().to_string()),
                caught("both catch it", [true, true]),
                caught("identity alone", [true, false]),
                caught("schema alone", [false, true]),
                caught("neither", [false, false]),
                rate("identity catches", 0),
                rate("schema catches", 1),
            ],
        ),
        (
            "Recognised as we wrote them down (Tables 3 and 6)",
            vec![
                recognised("known tools", known, "known"),
                recognised("unseen tools", unseen, "unseen"),
                of_unseen("unseen: mutability", |one| one.behavior.identity.mutability == one.written.0.mutability, ""),
                of_unseen("unseen: action", |one| one.behavior.identity.action == one.written.0.action, ""),
                of_unseen(
                    "unseen: no domain",
                    |one| one.behavior.identity.output_domain == OutputDomain::Unknown,
                    "domain",
                ),
            ],
        ),
    ]
}

fn text(
    options: PaperOptions,
    (pairs, played): (&[Pair], &[Played]),
    tools: [&[Known]; 2],
    look: Look<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let ours = |text: &str| Row::of(Tone::Ours, text);
    writeln!(out, "{}\n", section(DATA, "about").trim())?;
    let pair = |(severity, one, other, of_whom, apart): &Pair| {
        let by = match apart {
            Apart { identity: true, .. } => "identity",
            Apart { content: true, .. } => "content type",
            Apart { .. } => "nothing",
        };
        [ours(severity), ours(&format!("{one}, {other}")), ours(by), ours(of_whom)]
    };
    look.list(["SEVERITY", "PAIR", "SEPARATED BY", "PAIR IS"], &pairs.iter().map(pair).collect::<Vec<_>>(), out)?;
    if options.all {
        for one in played {
            let by = match (one.schema, one.apart) {
                (true, Apart { identity: true, .. }) => "schema and identity catch it",
                (true, Apart { content: true, .. }) => "schema and content type catch it",
                (true, Apart { .. }) => "schema alone catches it",
                (false, Apart { identity: true, .. }) => "identity catches it",
                (false, Apart { content: true, .. }) => "content type catches it",
                (false, Apart { .. }) => "nothing catches it",
            };
            writeln!(out, "\n{}\n  {}, chosen {}: {by}", one.prompt, one.right, one.wrong)?;
        }
        let unseen = |one: &Known| {
            let (is, written) = (one.behavior.identity, one.written.0);
            let written = if is == written { "same" } else { written.words() };
            [ours(&one.tool.name), ours(is.words()), ours(written)]
        };
        writeln!(out)?;
        look.list(["UNSEEN TOOL", "HERE", "WRITTEN DOWN"], &tools[1].iter().map(unseen).collect::<Vec<_>>(), out)?;
    }
    for (title, lines) in lines(pairs, played, tools) {
        writeln!(out, "\n{title}")?;
        let row = |(label, here, fourth, paper): &Line| [label.as_str(), here, fourth, paper].map(ours);
        let rows: Vec<_> = lines.iter().map(row).collect();
        look.list(["", "HERE", "CONTENT TYPE TOO", "THE PAPER"], &rows, out)?;
    }
    writeln!(out, "\n{}", section(DATA, "after").trim())
}

fn object(pairs: &[Pair], played: &[Played], tools: [&[Known]; 2]) -> Value {
    let tool = |one: &Known| json!({ "tool": one.tool.name, "identity": one.behavior.identity.words(), "written": one.written.0.words() });
    let figures = lines(pairs, played, tools).into_iter().map(|(title, lines)| {
        let line = |(label, here, fourth, paper): Line| {
            json!({ "what": label, "here": here, "with_content_type": fourth, "paper": paper })
        };
        json!({ "table": title, "figures": lines.into_iter().map(line).collect::<Vec<_>>() })
    });
    json!({
        "pairs": pairs.iter().map(|(severity, one, other, of_whom, apart)| json!({
            "severity": severity, "tools": [one, other], "pair_is": of_whom,
            "identity": apart.identity, "content_type": apart.content,
        })).collect::<Vec<_>>(),
        "choices": played.iter().map(|one| json!({
            "prompt": one.prompt, "right": one.right, "chosen": one.wrong, "schema": one.schema,
            "identity": one.apart.identity, "content_type": one.apart.content,
        })).collect::<Vec<_>>(),
        "known": tools[0].iter().map(tool).collect::<Vec<_>>(),
        "unseen": tools[1].iter().map(tool).collect::<Vec<_>>(),
        "figures": figures.collect::<Vec<_>>(),
    })
}

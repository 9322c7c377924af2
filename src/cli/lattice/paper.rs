//! `lattice paper`: the behavioral identity paper's pairs and wrong choices, played here without a model, beside the figures that
//! it gives. Tools and prompts are data (`assets/paper.txt`); what is counted comes from the recogniser, the schema and `--expect`.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use crate::behavior::conclude::{Trust, of_call, of_tool};
use crate::behavior::words::section;
use crate::behavior::{Behavior, expected::Expected};
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
    /// The four words that we wrote down.
    written: &'static str,
}

pub(super) fn run(options: PaperOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let (known, unseen) = (tools(section(DATA, "tools")), tools(section(DATA, "unseen")));
    let of = |name: &str| known.iter().find(|known| known.tool.name == name);
    let pair = |[severity, one, other, pair_is]: [&str; 4]| {
        let (is, other_is) = (&of(one)?.behavior, &of(other)?.behavior);
        Some(json!({
            "severity": severity, "tools": [one, other], "pair_is": pair_is,
            "identity": is.identity != other_is.identity, "content_type": is.content_type != other_is.content_type,
        }))
    };
    let mut played = json!({
        "pairs": rows(section(DATA, "pairs")).filter_map(pair).collect::<Vec<_>>(),
        "choices": rows(section(DATA, "prompts")).filter_map(|row| choice(row, &of)).collect::<Vec<_>>(),
        "known": known.iter().map(tool).collect::<Vec<_>>(),
        "unseen": unseen.iter().map(tool).collect::<Vec<_>>(),
    });
    played["figures"] = figures(&played);
    if options.json {
        json_object(played, out)?;
    } else {
        text(options, &played, Look::here(here), out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One wrong choice: the wrong tool is called with the arguments that the task needs. `None` where the right tool does not take them.
fn choice<'k>(
    [prompt, right, chosen, arguments]: [&'static str; 4],
    of: &dyn Fn(&str) -> Option<&'k Known>,
) -> Option<Value> {
    let (needed, wrong, arguments) = (of(right)?, of(chosen)?, serde_json::from_str(arguments).ok()?);
    let fits = |known: &Known| Some(Schema::compile(&known.tool.input_schema).ok()?.check(&arguments) == Fits::Yes);
    let refuses = fits(needed)?.then(|| fits(wrong)).flatten()?;
    let call = of_call(Some(&wrong.tool), &wrong.behavior, &arguments);
    let differs = |expected: &str| Some(expected.parse::<Expected>().ok()?.mismatch(&call).is_some());
    let Behavior { identity, content_type, .. } = &needed.behavior;
    Some(json!({
        "prompt": prompt, "right": right, "chosen": chosen, "schema": !refuses,
        "identity": differs(identity.hash())?, "content_type": differs(&format!("*|*|*|{}", content_type.word()))?,
    }))
}

/// The columns of each row of a section.
fn rows<const N: usize>(section: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let rows = section.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.filter_map(|row| row.split('\t').collect::<Vec<_>>().try_into().ok())
}

fn tools(section: &'static str) -> Vec<Known> {
    let known = |[name, written, parameters, description]: [&'static str; 4]| {
        let tool = json!({ "name": name, "description": description, "inputSchema": schema(parameters) });
        let tool = Tool::read(tool)?;
        Some(Known { behavior: of_tool(&tool, Trust::Corroborate), tool, written })
    };
    rows(section).filter_map(known).collect()
}

fn tool(Known { tool, behavior, written }: &Known) -> Value {
    let is = behavior.identity.words();
    json!({ "tool": tool.name, "identity": is, "content_type": behavior.content_type.word(), "written": written })
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
        required.extend((!is('?')).then_some(name));
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The paper's tables: here by the three fields, here with the fourth, and what the paper reports.
fn figures(played: &Value) -> Value {
    type Is<'i> = &'i dyn Fn(&Value) -> bool;
    let all = |key: &str| played[key].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |what: &str, here: String, too: String| {
        let paper = rows(section(DATA, "figures")).find(|[of, _]| *of == what).map_or("-", |[_, figure]| figure);
        json!({ "what": what, "here": here, "with_content_type": too, "paper": paper })
    };
    let count = |rows: &[Value], is: Is<'_>| rows.iter().filter(|row| is(row)).count();
    let part = |rows: &[Value], is: Is<'_>| format!("{} of {}", count(rows, is), rows.len());
    let three: Is<'_> = &|row| row["identity"] == true;
    let four: Is<'_> = &|row| row["identity"] == true || row["content_type"] == true;
    let schema: Is<'_> = &|row| row["schema"] == true;
    let pairs = ["CRITICAL", "HIGH", "MEDIUM", "LOW", "all"].map(|severity| {
        let its = all("pairs").iter().filter(|row| severity == "all" || row["severity"] == severity);
        let its: Vec<Value> = its.cloned().collect();
        line(severity, part(&its, three), part(&its, four))
    });
    let choices = all("choices");
    let made = choices.len().to_string();
    let caught = |what: &str, catches: [bool; 2]| {
        let of = |by: Is<'_>| count(choices, &|row| [by(row), schema(row)] == catches).to_string();
        line(what, of(three), of(four))
    };
    let rate = |by: Is<'_>| {
        let percent = (100 * count(choices, by) + choices.len() / 2).checked_div(choices.len()).unwrap_or_default();
        format!("{} ({percent} %)", part(choices, by))
    };
    let word = |row: &Value, key: &str, at: usize| {
        row[key].as_str().and_then(|words| words.split('|').nth(at)).map(str::to_owned)
    };
    let same = |row: &Value, at: usize| word(row, "identity", at) == word(row, "written", at);
    let whole: Is<'_> = &|row| (0..3).all(|at| same(row, at));
    let with_content: Is<'_> = &|row| whole(row) && word(row, "content_type", 0) == word(row, "written", 3);
    let recognised = |what: &str, key: &str| line(what, part(all(key), whole), part(all(key), with_content));
    let unseen = |what: &str, is: Is<'_>| line(what, part(all("unseen"), is), String::new());
    json!([
        { "table": "Pairs separated (Table 4)", "figures": pairs },
        { "table": "Who catches a wrong choice (Table 5)", "figures": [
            line("wrong choices", made.clone(), made),
            caught("both catch it", [true, true]),
            caught("identity alone", [true, false]),
            caught("schema alone", [false, true]),
            caught("neither", [false, false]),
            line("identity catches", rate(three), rate(four)),
            line("schema catches", rate(schema), rate(schema)),
        ] },
        { "table": "Recognised as we wrote them down (Tables 3 and 6)", "figures": [
            recognised("known tools", "known"),
            recognised("unseen tools", "unseen"),
            unseen("unseen: mutability", &|row| same(row, 0)),
            unseen("unseen: action", &|row| same(row, 1)),
            unseen("unseen: no domain", &|row| word(row, "identity", 2).as_deref() == Some("UNKNOWN")),
        ] },
    ])
}

fn of(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_default().to_owned()
}

fn cells<const N: usize>(row: &Value, keys: [&str; N]) -> [Row; N] {
    keys.map(|key| Row::of(Tone::Ours, of(row, key)))
}

fn text(options: PaperOptions, played: &Value, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let caught = |row: &Value| match (row["identity"] == true, row["content_type"] == true) {
        (true, _) => "identity",
        (false, true) => "content type",
        (false, false) => "nothing",
    };
    writeln!(out, "{}\n", section(DATA, "about").trim())?;
    let pairs = all(&played["pairs"]).into_iter().map(|mut row| {
        row["by"] = caught(&row).into();
        row["tools"] = all(&row["tools"]).iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ").into();
        cells(&row, ["severity", "tools", "by", "pair_is"])
    });
    look.list(["SEVERITY", "PAIR", "SEPARATED BY", "PAIR IS"], &pairs.collect::<Vec<_>>(), out)?;
    if options.all {
        for row in all(&played["choices"]) {
            let by = match (caught(&row), row["schema"] == true) {
                ("nothing", true) => "schema".to_owned(),
                (by, true) => format!("{by} and schema"),
                (by, false) => by.to_owned(),
            };
            let [prompt, right, chosen] = ["prompt", "right", "chosen"].map(|key| of(&row, key));
            writeln!(out, "\n{prompt}\n  {right}, chosen {chosen}: caught by {by}")?;
        }
        writeln!(out)?;
        let unseen: Vec<_> =
            all(&played["unseen"]).iter().map(|row| cells(row, ["tool", "identity", "written"])).collect();
        look.list(["UNSEEN TOOL", "HERE", "WRITTEN DOWN"], &unseen, out)?;
    }
    for table in all(&played["figures"]) {
        writeln!(out, "\n{}", of(&table, "table"))?;
        let lines = all(&table["figures"]);
        let lines: Vec<_> =
            lines.iter().map(|row| cells(row, ["what", "here", "with_content_type", "paper"])).collect();
        look.list(["", "HERE", "CONTENT TYPE TOO", "THE PAPER"], &lines, out)?;
    }
    writeln!(out, "\n{}", section(DATA, "after").trim())
}

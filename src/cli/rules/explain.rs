//! `mcp-approve rules explain CALL.json`: how a call would be ruled, and how each rule stands to it.

use std::io::{Read as _, Write};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::visible;
use crate::behavior::conclude::{self, Behavior, Trust};
use crate::error::Error;
use crate::mcp::tool::Tool;
use crate::policy::decide::Question;
use crate::policy::explain::{Explanation, explain};
use crate::policy::fit::{Fit, Part};
use crate::policy::rule::{Policy, Rule};
use crate::policy::when::Holds;

/// Explains the call in the file `call`, or on stdin for `-`.
///
/// # Errors
/// The call cannot be read, is no call, or the output cannot be written.
pub(super) fn run(policy: &Policy, call: &Path, json: bool, now: i64, out: &mut dyn Write) -> Result<ExitCode, Error> {
    let call = Call::read(&read(call)?)?;
    let behavior = call.behavior();
    let question = Question {
        server: &call.server,
        tool: &call.tool,
        behavior: &behavior,
        arguments: &call.arguments,
        now,
        recent: None,
    };
    let explanation = explain(policy, &question);
    if json {
        write_json(&explanation, &behavior, out)?;
    } else {
        write_text(&explanation, &behavior, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The call to explain.
struct Call {
    server: String,
    tool: String,
    arguments: Value,
    definition: Option<Tool>,
}

impl Call {
    fn read(text: &str) -> Result<Self, Error> {
        let value: Value = serde_json::from_str(text).map_err(|error| wrong(&format!("it is not JSON: {error}")))?;
        let Value::Object(mut fields) = value else {
            return Err(wrong("it is no object"));
        };
        let server = name(&mut fields, "server")?;
        let tool = name(&mut fields, "tool")?;
        let arguments = fields.remove("arguments").unwrap_or_else(|| json!({}));
        let definition = match fields.remove("definition") {
            None | Some(Value::Null) => None,
            Some(definition) => {
                let read = Tool::read(definition).ok_or_else(|| wrong("its definition has no name"))?;
                Some(read)
                    .filter(|read| read.name == tool)
                    .map(Some)
                    .ok_or_else(|| wrong("its definition is another tool's: `name` in it is not `tool`"))?
            }
        };
        match fields.keys().next() {
            Some(other) => Err(wrong(&format!("it has an unknown key {other:?}"))),
            None if !arguments.is_object() => Err(wrong("its arguments are no object")),
            None => Ok(Self { server, tool, arguments, definition }),
        }
    }

    /// What the call is, as a wrapper would conclude with the default trust.
    fn behavior(&self) -> Behavior {
        let described =
            self.definition.as_ref().map_or_else(Behavior::unknown, |tool| conclude::of_tool(tool, Trust::default()));
        conclude::of_call(self.definition.as_ref(), &described, &self.arguments.to_string(), &self.arguments)
    }
}

fn name(fields: &mut Map<String, Value>, key: &str) -> Result<String, Error> {
    match fields.remove(key) {
        Some(Value::String(name)) if !name.is_empty() => Ok(name),
        _ => Err(wrong(&format!("it does not say its `{key}`"))),
    }
}

fn wrong(what: &str) -> Error {
    Error::Wrong {
        what: format!("the call cannot be explained: {what}"),
        hint:
            r#"give {"server": "...", "tool": "...", "arguments": {...}}, and the tool's "definition" if you have it"#
                .to_owned(),
    }
}

fn read(path: &Path) -> Result<String, Error> {
    let unreadable = |cause| Error::Unreadable { path: path.into(), cause };
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).map_err(unreadable)
}

fn write_json(explanation: &Explanation<'_>, behavior: &Behavior, out: &mut dyn Write) -> Result<(), Error> {
    let rules = explanation.rules.iter().map(|(rule, fit)| {
        let differs = match fit {
            Fit::Differs(part) => Some(part.key()),
            Fit::Matches | Fit::NotCovered | Fit::Suspended => None,
        };
        json!({ "id": rule.id, "decision": rule.decision.word(), "line": rule.line, "fit": fit_word(*fit), "differs": differs })
    });
    let ruling = &explanation.ruling;
    let answer = json!({
        "decision": ruling.decision.word(),
        "rule": ruling.rule,
        "reason": ruling.reason,
        "badge": behavior.badge().word(),
        "behavior": behavior.identity.to_string(),
        "identity": behavior.identity.hash(),
        "hazards": behavior.hazards.iter().map(|hazard| hazard.kind.word()).collect::<Vec<_>>(),
        "rules": rules.collect::<Vec<_>>(),
    });
    writeln!(out, "{answer:#}")?;
    Ok(())
}

fn write_text(explanation: &Explanation<'_>, behavior: &Behavior, out: &mut dyn Write) -> Result<(), Error> {
    let ruling = &explanation.ruling;
    writeln!(out, "{}: {}", ruling.decision.word(), ruling.reason)?;
    writeln!(out, "the call is {} ({})", behavior.identity, behavior.identity.hash())?;
    for hazard in &behavior.hazards {
        writeln!(out, "hazard {}", hazard.kind.word())?;
    }
    let widest = explanation.rules.iter().map(|(rule, _)| rule.id.len()).max().unwrap_or_default();
    for (rule, fit) in &explanation.rules {
        let why = match fit {
            Fit::Matches => "matches".to_owned(),
            Fit::NotCovered => "would match, but does not cover the hazard".to_owned(),
            Fit::Suspended => "would match, but is suspended".to_owned(),
            Fit::Differs(part) => format!("no: {}", differs(rule, *part)),
        };
        writeln!(out, "  {:widest$}  {:5}  {why}", rule.id, rule.decision.word())?;
    }
    Ok(())
}

/// What keeps a rule from a call.
fn differs(rule: &Rule, part: Part) -> String {
    match part {
        Part::Expires => "it has expired".to_owned(),
        Part::When(at, Holds::Undecided) => {
            format!("{} cannot be decided", visible(&rule.when[at].text))
        }
        Part::When(at, _) => format!("{} does not hold", visible(&rule.when[at].text)),
        Part::Unless(at) => format!("{} excepts it", visible(&rule.unless[at].text)),
        other => format!("`{}` differs", other.key()),
    }
}

/// The word scripts read.
fn fit_word(fit: Fit) -> &'static str {
    match fit {
        Fit::Matches => "matches",
        Fit::NotCovered => "not-covered",
        Fit::Suspended => "suspended",
        Fit::Differs(_) => "differs",
    }
}

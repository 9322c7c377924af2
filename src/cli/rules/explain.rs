//! `mcp-approve rules explain CALL.json`: how a call would be ruled, and whether each rule matches it.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::past;
use crate::behavior::{Behavior, Trust, conclude, request::of_request};
use crate::cli::error::{Error, Exit};
use crate::cli::look::{Here, json_object};
use crate::cli::manifest;
use crate::gate::data::facts::Look;
use crate::home::{places::Places, user};
use crate::interpose::facts::{self, PathBase};
use crate::mcp::{Tool, request};
use crate::pins::{PinStore, reading::StoredTool};
use crate::policy::decide::{self, Explanation, explain_at};
use crate::policy::fit::{Fit, paths_wanted};
use crate::policy::past::{PastCall, is_obscured};
use crate::policy::{Policy, Question, Roots, Ruling, rules_name, under::Paths};
use crate::text::plain::visible;
use crate::wire::strict::{self, Flaw};

/// How long looking at paths may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Explains a call under the accepted policy, and under the written one where something of it waits.
pub(super) fn run(
    (policy, written): (&Policy, &Policy),
    call: &Call,
    json: bool,
    Here { places, now }: Here<'_>,
    out: &mut dyn Write,
) -> Exit {
    let behavior = call.behavior();
    let question = Question {
        method: call.method.as_deref(),
        server: &call.server,
        tool: &call.tool,
        behavior: &behavior,
        arguments: &call.arguments,
        now,
        recent: None,
    };
    let explanation = explain_at(policy, &question, &looked_up(policy, &question));
    let accepted = (!policy.pending.is_empty()).then(|| explain_at(written, &question, &looked_up(written, &question)));
    let accepted = accepted.map(|explained| explained.ruling);
    if json {
        write_json(&explanation, accepted.as_ref(), &behavior, call, out)?;
    } else {
        write_text(&explanation, &behavior, out)?;
        call.write_known(places, out)?;
        if let Some(accepted) = &accepted {
            write_pending(policy, accepted, places, out)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What a wrapper in this folder would know of where the call's paths lead.
fn looked_up(policy: &Policy, question: &Question<'_>) -> Roots {
    let base = PathBase::here(user::current().ok().map(|user| user.home));
    let wanted = Look { real: paths_wanted(policy, question), ..Look::default() };
    let found = facts::found(&base, &wanted, &mut facts::Projects::default(), Instant::now() + TIMEOUT);
    Roots { paths: Paths::Followed(found.real), ..policy.roots.clone() }
}

pub(super) struct Call {
    server: String,
    method: Option<String>,
    tool: String,
    arguments: Value,
    known: Known,
}

enum Known {
    /// Nothing: no server described the tool.
    Names,
    /// It is a request other than `tools/call`: its method says what it is.
    Request,
    Definition(Box<Tool>),
    /// The tool, as its server described it last.
    Remembered(Box<StoredTool>),
    /// How it was judged when it came.
    Past(Box<PastCall>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallFile {
    server: String,
    method: Option<String>,
    tool: Option<String>,
    arguments: Option<Map<String, Value>>,
    definition: Option<Value>,
    params: Option<Map<String, Value>>,
}

impl Call {
    pub(super) fn of_file(path: &Path, places: &Places) -> Result<Self, Error> {
        let call = Self::read(&manifest::text(path)?)?;
        let known = match call.known {
            Known::Names => described(places, &call.server, &call.tool)?
                .map_or(Known::Names, |known| Known::Remembered(Box::new(known))),
            known => known,
        };
        Ok(Self { known, ..call })
    }

    pub(super) fn of_record(record: &str, db: &Path) -> Result<Self, Error> {
        let call = past::one(record, db)?;
        Ok(Self {
            server: call.server.clone(),
            method: call.method.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            known: Known::Past(Box::new(call)),
        })
    }

    fn write_known(&self, places: &Places, out: &mut dyn Write) -> io::Result<()> {
        match &self.known {
            Known::Past(call) => {
                writeln!(out, "At that time, in record {}: {}, {}", call.seq, call.ruling.word(), call.outcome())?;
                if is_obscured(&call.arguments) {
                    writeln!(out, "Its secrets and long texts are not in the log, so this result is not certain.")?;
                }
            }
            Known::Names => {
                let tool = visible(&self.tool);
                writeln!(out, "No server has described {tool} here, so it counts as unknown; give its `definition`.")?;
            }
            Known::Remembered(_) => {
                let shows = places.command("tools show");
                writeln!(out, "The tool is judged as its server described it last ({shows}).")?;
            }
            Known::Definition(_) | Known::Request => {}
        }
        Ok(())
    }

    fn read(text: &str) -> Result<Self, Error> {
        let ambiguous = [Flaw::DuplicateKey, Flaw::TooDeep, Flaw::NulInKey, Flaw::ReservedKey, Flaw::LoneSurrogate];
        if let Err(fault) =
            strict::Reader::new(text.trim().replace(['\n', '\r'], " ").as_bytes()).and_then(|mut reader| reader.skip())
            && ambiguous.contains(&fault.flaw)
        {
            return Err(wrong(&format!("a wrapper refuses such a call, because {}", fault.flaw)));
        }
        let value: Value = serde_json::from_str(text).map_err(|error| wrong(&format!("it is not JSON: {error}")))?;
        if !value.is_object() {
            return Err(wrong("it is not an object"));
        }
        let file: CallFile = serde_json::from_value(value).map_err(|error| wrong(&error.to_string()))?;
        let CallFile { server, method, tool, arguments, definition, params } = file;
        let is_named = |name: &String| !name.is_empty();
        let server = Some(server).filter(is_named).ok_or_else(|| wrong("its `server` is empty"))?;
        if let Some(method) = method.filter(|method| method != request::CALL) {
            return match (tool, arguments, definition) {
                _ if !request::is_ruled(&method) || method.is_empty() => Err(wrong("a rule cannot cover its method")),
                (None, None, None) => {
                    let (tool, arguments) = (method.clone(), request::arguments(params.unwrap_or_default().into()));
                    Ok(Self { server, method: Some(method), tool, arguments, known: Known::Request })
                }
                _ => Err(wrong("a request with a `method` has `params`, and nothing else")),
            };
        }
        let tool = tool.filter(is_named).ok_or_else(|| wrong("it has no `tool`"))?;
        let known = match definition.map(Tool::read) {
            _ if params.is_some() => return Err(wrong("a call of a tool has `arguments`, and no `params`")),
            None => Known::Names,
            Some(None) => return Err(wrong("its definition has no name")),
            Some(Some(read)) if read.name != tool => {
                return Err(wrong("its definition is another tool's: `name` in it is not `tool`"));
            }
            Some(Some(read)) => Known::Definition(Box::new(read)),
        };
        Ok(Self { server, method: None, tool, arguments: arguments.unwrap_or_default().into(), known })
    }

    /// As it was found to be then, or as a wrapper would conclude; a definition that was given has the default trust.
    fn behavior(&self) -> Behavior {
        let (definition, described) = match &self.known {
            Known::Past(call) => return call.behavior.clone(),
            Known::Request => return of_request(&self.tool, &self.arguments),
            Known::Names => (None, Behavior::unknown()),
            Known::Definition(tool) => (Some(&**tool), conclude::of_tool(tool, Trust::default())),
            Known::Remembered(known) => (Some(&known.tool), known.behavior.clone()),
        };
        conclude::of_call(definition, &described, &self.arguments)
    }
}

fn described(places: &Places, server: &str, tool: &str) -> Result<Option<StoredTool>, Error> {
    places.check_state()?;
    let Some(store) = PinStore::open_existing(&places.pins_db())? else { return Ok(None) };
    let of_this = |known: &StoredTool| rules_name(&known.server.name) == rules_name(server) && known.tool.name == tool;
    Ok(store.tools()?.into_iter().filter(of_this).max_by_key(|known| known.last_seen))
}

fn wrong(what: &str) -> Error {
    Error::wrong(
        format!("the call cannot be explained: {what}"),
        r#"give {"server": "...", "tool": "...", "arguments": {...}}, and the tool's "definition" if you have it; or {"server": "...", "method": "resources/read", "params": {...}}"#,
    )
}

fn write_json(
    explanation: &Explanation<'_>,
    accepted: Option<&Ruling>,
    behavior: &Behavior,
    call: &Call,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rules = explanation.rules.iter().map(|(rule, fit)| {
        let differs = match fit {
            Fit::Differs(part) => Some(part.key()),
            Fit::Matches | Fit::NotCovered | Fit::NotProven | Fit::Suspended => None,
        };
        json!({ "id": rule.id, "decision": rule.decision.word(), "line": rule.line, "fit": fit_word(*fit), "differs": differs })
    });
    let ruling = &explanation.ruling;
    let answer = json!({
        "decision": ruling.decision.word(),
        "rule": ruling.rule,
        "reason": ruling.reason,
        "approved_by": ruling.terms.words(),
        "badge": behavior.badge().word(),
        "behavior": behavior.identity.to_string(),
        "identity": behavior.identity.hash(),
        "hazards": behavior.hazards.iter().map(|hazard| hazard.kind.word()).collect::<Vec<_>>(),
        "rules": rules.collect::<Vec<_>>(),
        "once_accepted": accepted.map(|ruling| {
            json!({ "decision": ruling.decision.word(), "rule": ruling.rule, "reason": ruling.reason })
        }),
        "then": match &call.known {
            Known::Names | Known::Request | Known::Definition(_) | Known::Remembered(_) => Value::Null,
            Known::Past(call) => json!({
                "seq": call.seq, "ruling": call.ruling.word(), "rule": call.rule, "verdict": call.ended.word(),
                "by": call.by, "obscured": is_obscured(&call.arguments),
            }),
        },
    });
    json_object(answer, out)
}

fn write_text(explanation: &Explanation<'_>, behavior: &Behavior, out: &mut dyn Write) -> io::Result<()> {
    let ruling = &explanation.ruling;
    writeln!(out, "{}: {}", ruling.decision.word(), ruling.reason)?;
    if let Some(terms) = ruling.terms.words() {
        writeln!(out, "approved by {}", visible(&terms))?;
    }
    writeln!(out, "The call is {} ({})", behavior.identity, behavior.identity.hash())?;
    for hazard in &behavior.hazards {
        writeln!(out, "hazard {}", hazard.kind.word())?;
    }
    let widest = explanation.rules.iter().map(|(rule, _)| rule.id.len()).max().unwrap_or_default();
    for (rule, fit) in &explanation.rules {
        let why = visible(&decide::why(rule, *fit));
        writeln!(out, "  {:widest$}  {:5}  {why}", rule.id, rule.decision.word())?;
    }
    Ok(())
}

/// What waits to be accepted, and what it would make of the call: a rule that waits is no rule yet.
fn write_pending(policy: &Policy, accepted: &Ruling, places: &Places, out: &mut dyn Write) -> io::Result<()> {
    for loosens in policy.pending.iter().flat_map(|one| &one.loosens) {
        writeln!(out, "Not accepted yet ({}): {}", places.command("rules accept"), visible(loosens))?;
    }
    writeln!(out, "Once all of it is accepted: {}: {}", accepted.decision.word(), visible(&accepted.reason))
}

/// The word scripts read.
fn fit_word(fit: Fit) -> &'static str {
    match fit {
        Fit::Matches => "matches",
        Fit::NotCovered => "not-covered",
        Fit::NotProven => "not-proven",
        Fit::Suspended => "suspended",
        Fit::Differs(_) => "differs",
    }
}

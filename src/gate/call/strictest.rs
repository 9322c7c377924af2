//! Judges whatever can be held: a call by its tool, any other request by its method, the rules about that, and the folders
//! that the host declared. Of several rulings the strictest holds. Acts on nothing.

use std::sync::Arc;

use serde_json::Value;

use crate::behavior::arguments::memory::Memory;
use crate::behavior::conclude::Behavior;
use crate::behavior::hazards::{Hazard, HazardKind};
use crate::behavior::request::of_request;
use crate::behavior::taxonomy::{Mutability, OutputDomain};
use crate::gate::call::judged::{self, JudgeInput, Judged, Seen, followed, is_too_much, near, recent};
use crate::gate::call::retry::Retry;
use crate::gate::data::facts::Look;
use crate::gate::server::described::Described;
use crate::mcp::request;
use crate::policy::decide::{self, Question};
use crate::policy::fit::{counted, paths_wanted};
use crate::wire::call::{Call, Origin};

/// How many characters of an address or a name a list shows.
const SHOWN: usize = 120;

/// Judges a call by what is known of its tool (`None`: the server has not described it), or another request. Where the
/// clock was set back, also by the latest time that was seen: a rule that was over stays so. `memory` belongs to this
/// definition.
pub(in crate::gate) fn judge(
    call: &Call,
    described: Option<Arc<Described>>,
    input: JudgeInput<'_>,
    seen: &Seen,
    memory: &mut Memory,
) -> Judged {
    let mut judge_at = |described: Option<Arc<Described>>, now| {
        let input = JudgeInput { now, ..input };
        let requests = call.questions().map(|question| judge_request(call, question, input, seen));
        requests.reduce(stricter).unwrap_or_else(|| judged::judge(call, described, input, seen, memory))
    };
    if input.latest <= input.now {
        return judge_at(described, input.now);
    }
    stricter(judge_at(described.clone(), input.now), judge_at(described, input.latest))
}

/// Of two times, or of several requests inside one answer, the strictest ruling holds, once all paths are followed.
fn stricter(one: Judged, other: Judged) -> Judged {
    let is_stricter = other.ruling.decision > one.ruling.decision;
    let (mut strictest, other) = if is_stricter { (other, one) } else { (one, other) };
    strictest.wanted.real.extend(other.wanted.real);
    strictest.wanted.counted.extend(other.wanted.counted);
    strictest
}

fn judge_request(call: &Call, (method, params): (&str, &str), input: JudgeInput<'_>, seen: &Seen) -> Judged {
    let params: Value = match is_too_much(call) {
        true => Value::Null,
        // The strict reader has read it already, so this cannot fail.
        false => serde_json::from_str(params).unwrap_or_default(),
    };
    let mut behavior = of_request(method, &params);
    match call.origin() {
        // Text in a server's request is for the user: a path in it is not one that the host would open.
        Origin::Server | Origin::Answer => behavior.hazards.clear(),
        Origin::Host if is_too_much(call) => {
            let what = "the request holds more values than are read".to_owned();
            behavior.hazards.push(Hazard { kind: HazardKind::UnreadArguments, what });
        }
        Origin::Host => {}
    }
    let about = request::target(&params).map(|target| target.chars().take(SHOWN).collect::<String>());
    if let Some(uri) = params.get("uri").and_then(Value::as_str).filter(|uri| request::is_file(uri)) {
        behavior.hazards.extend(input.roots.outside(request::path_of(uri).as_deref(), uri));
    }
    let params = request::arguments(params);
    let question = Question {
        server: input.server,
        method: Some(method),
        tool: method,
        behavior: &behavior,
        arguments: &params,
        now: input.now,
        recent: Some(input.recent),
    };
    let counted = counted(input.policy, &question);
    let recent = recent(counted.as_ref(), input, seen.found.as_ref());
    let question = Question { recent: recent.as_deref(), ..question };
    let mut wanted = Look { real: paths_wanted(input.policy, &question), ..Look::default() };
    wanted.counted.extend(counted);
    let roots = followed(input.policy, &wanted, seen.found.as_ref());
    let ruling = decide::decide_at(input.policy, &question, &roots);
    let near = near(input.policy, &question, &roots, &ruling);
    Judged {
        effect: effect(&behavior, call.origin()).to_owned(),
        target: about.map(Arc::from),
        danger: None,
        explained: String::new(),
        wanted,
        awaits_look: false,
        by_approver: None,
        near,
        described: None,
        behavior,
        ruling,
        undeclared: Vec::new(),
        violations: Vec::new(),
        retry: Retry::Plain,
    }
}

/// Our own line on what a request does.
fn effect(behavior: &Behavior, origin: Origin) -> &'static str {
    let identity = behavior.identity;
    match (origin, identity.output_domain, identity.mutability) {
        (_, OutputDomain::Model, _) => "the server has the host's model write an answer",
        (_, OutputDomain::User, _) => "the server asks the host's user a question",
        (Origin::Host, OutputDomain::Content, Mutability::Pure) => "reads a resource or a prompt of the server",
        (Origin::Host, _, Mutability::Pure) => "reads from the server; no tool is called",
        (Origin::Server | Origin::Answer, _, Mutability::Pure) => "the server reads from the host",
        (Origin::Host, OutputDomain::Unknown, _) => "a request that is not a tool call: its effect is unknown",
        (Origin::Host, _, _) => "changes what the server keeps for this session; no tool is called",
        (Origin::Server | Origin::Answer, _, _) => "a request from the server: what the host does with it is unknown",
    }
}

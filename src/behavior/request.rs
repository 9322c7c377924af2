//! What a request other than `tools/call` is: fixed by the protocol for the methods that it defines, unknown for others. Its
//! params are not judged leaf by leaf; only the address of a file has the hazards that it has in a call.

use serde_json::{Value, json};

use super::conclude::{Behavior, proven};
use super::hazards;
use super::identity::Identity;
use super::taxonomy::{Action, Mutability, OutputDomain};
use crate::mcp::request;

/// What a request does. `sampling` and `elicitation` send something: a prompt to the host's model, a question to its user.
fn identity(method: &str) -> Identity {
    use {Action as A, OutputDomain as D};
    let (action, output_domain) = match method {
        "resources/read" | "prompts/get" => (A::Read, D::Content),
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" | "roots/list" => {
            (A::Read, D::Structure)
        }
        "tasks/get" | "tasks/result" | "tasks/list" => (A::Read, D::Data),
        "completion/complete" => (A::Search, D::Data),
        "resources/subscribe" | "resources/unsubscribe" | "subscriptions/listen" | "logging/setLevel" => {
            (A::Update, D::Ack)
        }
        "tasks/cancel" => (A::Delete, D::Ack),
        "tasks/update" => (A::Update, D::Data),
        "sampling/createMessage" => (A::Send, D::Model),
        "elicitation/create" => (A::Send, D::User),
        _ => return Identity::UNKNOWN,
    };
    let mutability = if action.reads() { Mutability::Pure } else { Mutability::Mutates };
    Identity { mutability, action, output_domain }
}

/// What a request is, with the hazards of its `params`.
///
/// `params` come from the host: what a server sends names no place that a host would open.
pub fn of_request(method: &str, params: &Value) -> Behavior {
    let identity = identity(method);
    let confidence = proven(identity.mutability);
    let files = request::files(method, params);
    let of_file = |(uri, _): &(&str, _)| hazards::arguments::found(&json!({ "uri": uri }));
    let hazards = files.iter().flat_map(of_file).collect();
    Behavior { identity, confidence, hazards, ..Behavior::unknown() }
}

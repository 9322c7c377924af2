//! One tool as its server describes it, with everything that follows from its definition.

use std::sync::{Arc, OnceLock};

use crate::audit::record::{NamedText, TextKind};
use crate::behavior::shape::{Given, Keys};
use crate::behavior::{Behavior, Evidence, Hazard, Mutability, arguments::key::Said};
use crate::capability::schema::{Schema, UnusableSchema};
use crate::capability::types;
use crate::gate::data::{pin::PinState, report::KnownTool};
use crate::mcp::Tool;
use crate::policy::scope::Asked;
use crate::signing::Required;
use crate::wire::Digest;

pub struct Described {
    pub tool: Tool,
    pub digest: Digest,
    /// The size of its definition, roughly.
    pub bytes: usize,
    pub behavior: Behavior,
    /// The same without the operator's word on it, where there is one.
    pub unsaid: Option<Box<Behavior>>,
    pub signature: String,
    input: OnceLock<Result<Schema, UnusableSchema>>,
    output: OnceLock<Option<Schema>>,
    said: OnceLock<Said>,
    /// Its keys with the operator's word on it, and without.
    keys: OnceLock<Keys>,
    unsaid_keys: OnceLock<Keys>,
    /// What our list of well-known servers says of its keys.
    given: Option<Arc<Given>>,
    text: OnceLock<NamedText>,
    /// How this definition compares with the one that is trusted.
    pub pin_state: PinState,
    pub visibility: Visibility,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Listed,
    /// It lies outside the scope.
    Hidden,
}

impl std::fmt::Debug for Described {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Described({:?}, {:?})", self.tool.name, self.digest)
    }
}

impl Described {
    /// A definition. Its schemas are compiled, and its words read, when a call first needs them: most tools of a session are never called.
    pub fn of(
        tool: Tool,
        digest: Digest,
        pin_state: PinState,
        (behavior, visibility, given): (Behavior, Visibility, Option<Arc<Given>>),
    ) -> Self {
        Self {
            behavior,
            unsaid: None,
            visibility,
            signature: types::signature(&tool),
            input: OnceLock::new(),
            output: OnceLock::new(),
            said: OnceLock::new(),
            keys: OnceLock::new(),
            unsaid_keys: OnceLock::new(),
            given,
            text: OnceLock::new(),
            digest,
            bytes: tool.definition.to_string().len(),
            pin_state,
            tool,
        }
    }

    /// What it is where approvals need signatures: the operator's word loosens nothing that would need one,
    /// unless it is signed.
    pub fn behavior_where(&self, signed: Required, is_signed: impl Fn() -> bool) -> &Behavior {
        let Some(unsaid) = &self.unsaid else { return &self.behavior };
        let is_pure = |one: &Behavior| one.identity.mutability == Mutability::Pure;
        let loosens = match (signed, is_pure(&self.behavior), is_pure(unsaid)) {
            (Required::Never, ..) | (Required::Dangerous, true, true) | (_, false, true) => false,
            // Another change than the evidence shows may be a milder one, and one that no rule is about.
            (_, false, false) => unsaid.disputed || self.behavior.identity != unsaid.identity,
            (_, true, _) => true,
        };
        if loosens && !is_signed() { unsaid } else { &self.behavior }
    }

    /// What a scope is asked of a call. It is about tools: what this one may do counts, though this call of it only reads.
    pub fn asked_of_scope<'a>(
        described: Option<&'a Self>,
        (server, name): (&'a str, &'a str),
        call: &'a Behavior,
    ) -> Asked<'a> {
        let of_tool = described.map(|known| &known.behavior);
        let may_change = of_tool.filter(|tool| tool.identity.mutability > call.identity.mutability);
        Asked { server, name, tool: described.map(|known| &known.tool), behavior: may_change.unwrap_or(call) }
    }

    pub fn input(&self) -> &Result<Schema, UnusableSchema> {
        self.input.get_or_init(|| Schema::compile(&self.tool.input_schema))
    }

    /// The schema of its answers, where it has a usable one.
    pub fn output(&self) -> Option<&Schema> {
        let compile = || self.tool.output_schema.as_ref().and_then(|schema| Schema::compile(schema).ok());
        self.output.get_or_init(compile).as_ref()
    }

    pub fn said(&self) -> &Said {
        self.said.get_or_init(|| Said::of(&self.tool))
    }

    /// Its keys, by what [`Self::behavior_where`] says that it is.
    pub fn keys(&self, is: &Behavior) -> &Keys {
        let is_said = std::ptr::eq(is, &raw const self.behavior);
        let keys = if is_said { &self.keys } else { &self.unsaid_keys };
        keys.get_or_init(|| Keys::of(&self.tool, is.identity.action, &is.evidence, self.given.as_ref()))
    }

    pub fn text(&self) -> &NamedText {
        self.text.get_or_init(|| NamedText::new(TextKind::Definition, self.tool.canonical()))
    }

    pub fn known_tool(&self) -> KnownTool {
        const MOST: usize = 16;
        let behavior = &self.behavior;
        let evidence = behavior.evidence.iter().take(MOST);
        let hazards = behavior.hazards.iter().take(MOST);
        KnownTool {
            tool: cut(&self.tool.name, 512),
            signature: cut(&self.signature, 2048),
            identity: behavior.identity,
            confidence: behavior.confidence,
            evidence: evidence.map(|one| Evidence { span: cut(&one.span, 512), ..one.clone() }).collect(),
            disputed: behavior.disputed,
            hazards: hazards.map(|one| Hazard { what: cut(&one.what, 512), ..one.clone() }).collect(),
            digest: self.digest,
            pin: self.pin_state,
        }
    }
}

/// The beginning of a text, of at most so many bytes.
fn cut(text: &str, bytes: usize) -> String {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default().to_owned()
}

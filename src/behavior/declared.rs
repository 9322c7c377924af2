//! What a tool declares itself: the fields of the behavioral identity paper, top level or in `_meta`, and MCP's hints. The
//! absence of hints is silence, not a claim: the protocol's defaults only say what to assume.

use serde_json::Value;

use super::evidence::{Claim, Evidence, Source, Strength};
use super::taxonomy::{Action, ContentType, Mutability, OutputDomain};
use super::voters::name::{self, Firmness};
use super::words::{self, among};
use crate::mcp::tool::Annotations;

/// What the tool declares; a word outside the taxonomy claims nothing, but is noted. `None` where it declares nothing.
pub fn evidence(definition: &Value) -> Option<Evidence> {
    let mut noted = [Vec::new(), Vec::new()];
    let says = Claim {
        mutability: word(definition, "mutability", Mutability::from_word, &mut noted),
        action: word(definition, "action", Action::from_word, &mut noted),
        output_domain: word(definition, "output_domain", OutputDomain::from_word, &mut noted),
        content_type: word(definition, "content_type", ContentType::from_word, &mut noted),
    };
    let span = noted.concat().join(", ");
    (!span.is_empty()).then_some(Evidence { source: Source::Declared, says, span, strength: Strength::Strong })
}

/// The meaning of the word under a key, at the top or in `_meta`. It is noted among those that are known or those that are not.
fn word<T>(
    definition: &Value,
    key: &str,
    read: impl Fn(&str) -> Option<T>,
    [known, unknown]: &mut [Vec<String>; 2],
) -> Option<T> {
    let value = definition.get(key).or_else(|| definition.get("_meta")?.get(key))?;
    let text: String = value.as_str()?.chars().take(40).collect();
    let word = read(&text);
    match word {
        Some(_) => known.push(format!("{key}: {text}")),
        None => unknown.push(format!("{key}: {text} (not in the taxonomy)")),
    }
    word
}

/// What the tool declares of its effects or of what a caller must be allowed, where that is more than reading: `side_effects`
/// decides where it is given, else `capabilities`, `required_entitlements` and what is like them. To execute says nothing alone.
pub fn effects(definition: &Value) -> Option<Evidence> {
    let mut stated = Vec::new();
    let top = definition.as_object().into_iter().flatten();
    top.for_each(|(key, value)| state(key, value, if key == "_meta" { 4 } else { 0 }, &mut stated));
    let own: Vec<_> = stated.iter().filter(|(key, _)| among(key, "side_effects side_effect")).collect();
    let (_, word) = match own.is_empty() {
        true => stated.iter().find(|(key, said)| changes(key, said))?,
        false => own.into_iter().find(|(_, said)| !words::of_name(said).iter().all(|word| among(word, NO_EFFECT)))?,
    };
    let says = Claim { mutability: Some(Mutability::Mutates), ..Claim::default() };
    Some(Evidence { source: Source::Declared, says, span: format!("it declares {word}"), strength: Strength::Strong })
}

/// Collects what is said under the keys that speak of effects; other objects are looked into to this depth.
fn state(key: &str, value: &Value, depth: usize, stated: &mut Vec<(String, String)>) {
    let plain = words::of_name(key).join("_");
    match value {
        Value::Array(values) => values.iter().for_each(|value| state(key, value, depth, stated)),
        Value::Object(fields) if depth > 0 => {
            fields.iter().for_each(|(key, value)| state(key, value, depth - 1, stated));
        }
        _ if !among(&plain, SPEAKS_OF_EFFECTS) => {}
        Value::String(text) => stated.push((plain, text.chars().take(80).collect())),
        Value::Null => stated.push((plain, String::new())),
        other => stated.push((plain, other.to_string().chars().take(80).collect())),
    }
}

/// Whether a word of a capability, an entitlement or a method names a change.
fn changes(key: &str, said: &str) -> bool {
    words::of_name(said).iter().any(|word| match key {
        "method" | "http_method" => among(word, "put patch delete"),
        _ => {
            let firm = name::change(word).is_some_and(|firmness| firmness != Firmness::Either);
            (firm || among(word, "admin administrator owner pay rw")) && !among(word, "execute exec run")
        }
    })
}

const SPEAKS_OF_EFFECTS: &str = "side_effects side_effect effects capabilities required_entitlements entitlements scopes \
    required_scopes permissions required_permissions method http_method";
/// Words of a declaration that nothing is changed.
const NO_EFFECT: &str = "none no nothing read reads only readonly false";

/// Whether the declared fields contradict each other: `PURE|DELETE`, or `MUTATES|READ`.
pub fn contradicts_itself(says: Claim) -> bool {
    matches!(
        (says.mutability, says.action.map(Action::reads)),
        (Some(Mutability::Pure), Some(false)) | (Some(Mutability::Mutates), Some(true))
    )
}

/// The mutability that the fields declare; an action alone implies it where it changes something.
pub fn mutability(says: Claim) -> Option<Mutability> {
    let changes = says.action.is_some_and(|action| !action.reads());
    says.mutability.or(changes.then_some(Mutability::Mutates))
}

/// Whether the hints contradict themselves: a tool that only reads destroys nothing.
pub fn hints_contradict(hints: Annotations) -> bool {
    hints.read_only == Some(true) && hints.destructive == Some(true)
}

/// What the hints say, if they say anything about changing things. Hints that contradict themselves say that it changes.
pub fn hinted(hints: Annotations) -> Option<Evidence> {
    let (mutability, span) = match (hints.read_only, hints.destructive) {
        (Some(true), Some(true)) => (Mutability::Mutates, "readOnlyHint: true, destructiveHint: true"),
        (Some(true), _) => (Mutability::Pure, "readOnlyHint: true"),
        (Some(false), Some(true)) => (Mutability::Mutates, "readOnlyHint: false, destructiveHint: true"),
        (Some(false), _) => (Mutability::Mutates, "readOnlyHint: false"),
        (None, Some(true)) => (Mutability::Mutates, "destructiveHint: true"),
        // Not destructive is not read-only: additive changes are changes.
        (None, Some(false) | None) => return None,
    };
    Some(Evidence {
        source: Source::Annotated,
        says: Claim { mutability: Some(mutability), ..Claim::default() },
        span: span.to_owned(),
        strength: Strength::Fair,
    })
}

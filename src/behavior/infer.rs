//! The recogniser: what a definition's words say of its behavior, hints and declared fields left aside.
//!
//! Deterministic, and about English: a name's verb, a description's first verb, phrases and parameters that give a change
//! away. A change seen anywhere outweighs a read seen anywhere; what nobody recognises is unknown.

use super::evidence::{Claim, Evidence, Source, Strength};
use super::lexicon::Effect;
use super::objects;
use super::reading::{self, Act, Sure};
use super::taxonomy::{Action, Mutability};
use super::tells::{self, Gives, Tell};
use super::words;
use crate::mcp::tool::Tool;

/// What the recogniser concludes: one claim, and the pieces it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inference {
    /// Silent about mutability where nothing was recognised.
    pub claim: Claim,
    pub strength: Strength,
    pub evidence: Vec<Evidence>,
}

/// Reads a definition.
pub fn infer(tool: &Tool) -> Inference {
    let signs = Signs::of(tool);
    let (mutability, action, strength) = signs.weighed();
    let named: Vec<&str> = signs.named().collect();
    let says = mutability.map_or(Claim::default(), |mutability| {
        let output_domain = objects::output(mutability, action, &named, tool.output_schema.as_ref());
        let content_type = objects::content_type(named.iter().copied(), output_domain);
        Claim {
            mutability: Some(mutability),
            action: Some(action),
            output_domain: Some(output_domain),
            content_type: Some(content_type),
        }
    });
    Inference { claim: says, strength, evidence: signs.evidence(says, strength) }
}

/// Everything read off one definition.
struct Signs {
    name_words: Vec<String>,
    name: Option<Act>,
    described: Option<Act>,
    first_sentence: Vec<String>,
    tells: Vec<Tell>,
}

impl Signs {
    fn of(tool: &Tool) -> Self {
        let name_words = words::of_name(&tool.name);
        let description = tool.description.as_deref().unwrap_or_default();
        let first_sentence = tells::sentences(description).next().map(words::of_sentence).unwrap_or_default();
        let mut tells = tells::of_description(description);
        tells.extend(tells::of_parameters(&tool.input_schema));
        Self {
            name: reading::of_name(&name_words),
            described: reading::of_sentence(&first_sentence),
            name_words,
            first_sentence,
            tells,
        }
    }

    fn has(&self, gives: Gives) -> bool {
        self.tells.iter().any(|tell| tell.gives == gives)
    }

    fn selects(&self) -> Option<Action> {
        self.tells.iter().find_map(|tell| match tell.gives {
            Gives::Selects(action) => Some(action),
            Gives::OnlyReads | Gives::Changes | Gives::WritesFile | Gives::SelectsReads | Gives::RunsCode => None,
        })
    }

    /// Mutability, action and how strongly; the most cautious sign decides.
    fn weighed(&self) -> (Option<Mutability>, Action, Strength) {
        use Effect::{Changes, Depends, Reads};
        let acts = [self.name.as_ref(), self.described.as_ref()];
        let changes = acts.iter().flatten().find_map(|act| match act.effect {
            Changes(action) => Some((action, act.sure)),
            Reads(_) | Depends(_) => None,
        });
        let reads = acts.iter().flatten().find_map(|act| match act.effect {
            Reads(action) => Some((action, act.sure)),
            Changes(_) | Depends(_) => None,
        });
        let depends = acts.iter().flatten().find_map(|act| match act.effect {
            Depends(action) => Some(action),
            Reads(_) | Changes(_) => None,
        });
        let mutates = |action, strength| (Some(Mutability::Mutates), action, strength);
        let pure = |action, strength| (Some(Mutability::Pure), action, strength);
        if let Some((action, Sure::Yes)) = changes {
            return mutates(action, Strength::Strong);
        }
        if let Some(action) = self.selects() {
            return mutates(action, Strength::Strong);
        }
        let only_reads = self.has(Gives::OnlyReads);
        match (changes, reads, depends) {
            (Some((action, Sure::Perhaps)), None, _) => mutates(action, Strength::Fair),
            (Some((action, _)), Some(_), _) if !only_reads => mutates(action, Strength::Weak),
            (_, Some((action, sure)), None) => {
                if self.has(Gives::Changes) && !only_reads {
                    mutates(Action::Unknown, Strength::Weak)
                } else if self.has(Gives::WritesFile) {
                    mutates(Action::Create, Strength::Fair)
                } else if self.has(Gives::RunsCode) && !only_reads {
                    mutates(Action::Execute, Strength::Fair)
                } else if sure == Sure::Yes || only_reads {
                    pure(action, Strength::Strong)
                } else {
                    pure(action, Strength::Fair)
                }
            }
            (_, Some((action, _)), Some(_)) if only_reads => pure(action, Strength::Fair),
            (_, _, Some(action)) => mutates(action, Strength::Weak),
            (_, None, None) if only_reads && !self.has(Gives::Changes) => pure(Action::Read, Strength::Weak),
            (None | Some(_), None, None) => (None, Action::Unknown, Strength::Weak),
        }
    }

    /// The things named, nearest to the act first.
    fn named(&self) -> impl Iterator<Item = &str> {
        let of_name = self.name.as_ref().map_or(&self.name_words, |act| &act.object);
        let sentence = self.described.as_ref().map_or(&self.first_sentence, |act| &act.object);
        of_name.iter().rev().chain(&self.name_words).chain(sentence.iter().take(12)).map(String::as_str)
    }

    fn evidence(&self, says: Claim, strength: Strength) -> Vec<Evidence> {
        let piece = |span: String, says: Claim, strength| Evidence { source: Source::Inferred, says, span, strength };
        let mut pieces = Vec::new();
        let deciding = |effect: Effect| match effect {
            Effect::Reads(_) => Some(Mutability::Pure),
            Effect::Changes(_) => Some(Mutability::Mutates),
            Effect::Depends(_) => None,
        };
        for (place, act) in [("name", &self.name), ("description", &self.described)] {
            if let Some(act) = act {
                let agrees = deciding(act.effect) == says.mutability;
                let claim = if agrees { says } else { Claim { mutability: deciding(act.effect), ..Claim::default() } };
                pieces.push(piece(
                    format!("{place}: {}", act.word),
                    claim,
                    if agrees { strength } else { Strength::Weak },
                ));
            }
        }
        for tell in &self.tells {
            let mutability = match tell.gives {
                Gives::OnlyReads | Gives::SelectsReads => Mutability::Pure,
                Gives::Changes | Gives::WritesFile | Gives::Selects(_) | Gives::RunsCode => Mutability::Mutates,
            };
            let claim = Claim { mutability: Some(mutability), ..Claim::default() };
            pieces.push(piece(tell.span.clone(), claim, Strength::Fair));
        }
        pieces
    }
}

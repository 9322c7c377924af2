//! The recogniser: what a definition's words say of its behavior, hints and declared fields left aside.
//!
//! Deterministic, and about English: a name's verb, a description's first verb, phrases and parameters that give a change
//! away. A change seen anywhere outweighs a read seen anywhere; what nobody recognises is unknown.

use super::evidence::{Claim, Evidence, Source, Strength};
use super::lexicon::{Effect, Firmness};
use super::objects::{self, Runs};
use super::reading::{self, Act, Opening, Place, Sure};
use super::taxonomy::{Action, Mutability, OutputDomain};
use super::tells::{self, Gives, Tell};
use super::words::{self, Form};
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
    let says = {
        let phrases = signs.named();
        let output_domain = signs.domain(mutability.unwrap_or(Mutability::Mutates), action, &phrases);
        let content_type = objects::content_type(
            phrases.iter().flat_map(|phrase| phrase.iter().take(8)).map(String::as_str),
            output_domain,
        );
        Claim { mutability, action: Some(action), output_domain: Some(output_domain), content_type: Some(content_type) }
    };
    Inference { claim: says, strength, evidence: signs.evidence(says, strength) }
}

/// Everything read off one definition.
struct Signs {
    name_words: Vec<String>,
    name: Option<Act>,
    described: Opening,
    first_sentence: Vec<String>,
    tells: Vec<Tell>,
}

impl Signs {
    fn of(tool: &Tool) -> Self {
        let name_words = words::of_name(&tool.name);
        let description = tool.description.as_deref().unwrap_or_default();
        let first_sentence = tells::sentences(description).next().map(words::of_sentence).unwrap_or_default();
        let mut tells = tells::of_description(description);
        tells.extend(tells::of_parameters(&tool.input_schema, description));
        Self {
            name: reading::of_name(&name_words),
            described: described(description),
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
            Gives::OnlyReads
            | Gives::Changes
            | Gives::Does
            | Gives::WritesFile
            | Gives::SelectsReads
            | Gives::RunsCode
            | Gives::MayChange
            | Gives::Denies
            | Gives::Returns => None,
        })
    }

    /// The act of the description, where it opens with one.
    fn act(&self) -> Option<&Act> {
        match &self.described {
            Opening::Act(act) => Some(act),
            Opening::Thing | Opening::Unclear => None,
        }
    }

    /// Mutability, action and how strongly; the most cautious sign decides.
    fn weighed(&self) -> (Option<Mutability>, Action, Strength) {
        use Effect::{Changes, Depends, Reads};
        let mutates = |action, strength| (Some(Mutability::Mutates), action, strength);
        // A verb that leaves it open, and a sentence that does not.
        let unknown = |action| match self.has(Gives::Does) || self.has(Gives::Changes) {
            true => mutates(action, Strength::Weak),
            false => (None, action, Strength::Weak),
        };
        let pure = |action, strength| match self.doubt() {
            Some(action) => mutates(action, Strength::Weak),
            // A statement that only reads fetches what it names; nobody searches with it.
            None if self.runs() == Runs::Statement => (Some(Mutability::Pure), Action::Read, strength),
            None => (Some(Mutability::Pure), action, strength),
        };
        let only_reads = self.has(Gives::OnlyReads);
        let name = self.name.as_ref().map(|act| (act.effect, act.sure));
        // "Returns the outcome" says what comes back, not what is done for it: no answer to a name such as `call_service`.
        let answers = |act: &&Act| act.base != "return" || matches!(name, None | Some((Reads(_), _)));
        let told = self.act().filter(answers).map(|act| (act.effect, act.sure));
        if let Some(action) = self.selects() {
            let managed = self.name.as_ref().is_some_and(|act| words::among(act.base, VAGUE));
            return mutates(if managed { Action::Update } else { action }, Strength::Strong);
        }
        let vague =
            |act: Option<&Act>| act.is_none_or(|act| words::among(act.base, VAGUE) || matches!(act.effect, Reads(_)));
        // The description says of the same verb what it is done to.
        let same = |name: &Act, told: &Act| name.base == told.base;
        if let (Some(name), Some(told)) = (&self.name, self.act())
            && let Reads(action) = told.effect
            && same(name, told)
        {
            return pure(action, Strength::Fair);
        }
        let runs =
            |act: Option<&Act>| act.is_none_or(|act| words::among(act.base, RUNS) || matches!(act.effect, Reads(_)));
        let at_once = self.tells.iter().any(|tell| tell.gives == Gives::OnlyReads && tell.sentence == 0)
            && !self.has(Gives::Changes)
            && !self.has(Gives::Does);
        if at_once && runs(self.name.as_ref()) && runs(self.act()) && (self.name.is_some() || self.act().is_some()) {
            let action = [name, told].into_iter().flatten().find_map(|(effect, _)| match effect {
                Reads(action) => Some(action),
                Changes(_) | Depends(_) => None,
            });
            return pure(action.unwrap_or(Action::Read), Strength::Fair);
        }
        if self.has(Gives::SelectsReads) && vague(self.name.as_ref()) && vague(self.act()) {
            return pure(Action::Read, Strength::Fair);
        }
        match (name, told) {
            (Some((Changes(action), Sure::Yes)), _) => {
                mutates(self.told_of_the_same().unwrap_or(action), Strength::Strong)
            }
            (Some((Reads(action), Sure::Yes)), Some((Changes(_), Sure::Yes))) if only_reads => {
                pure(action, Strength::Weak)
            }
            // "Executes a query" and the like: what is run was named by the name.
            (Some((Reads(action), Sure::Yes)), Some((Changes(Action::Execute), _)))
                if self.act().is_some_and(|act| {
                    words::among(act.base, RUNS) && act.object.iter().take(6).any(|word| words::among(word, ASKED))
                }) =>
            {
                pure(action, Strength::Weak)
            }
            (Some((Reads(_), Sure::Yes)), Some((Changes(action), Sure::Yes))) => mutates(action, Strength::Weak),
            (_, Some((Changes(action), Sure::Yes))) => mutates(action, Strength::Strong),
            (Some((Reads(action), Sure::Yes)), Some((Reads(other), _))) => {
                pure(searching(action, other), Strength::Strong)
            }
            (Some((Reads(action), Sure::Yes)), Some((Depends(_) | Changes(_), _)) | None) => {
                pure(action, Strength::Fair)
            }
            (Some((Reads(other), Sure::Perhaps)), Some((Reads(action), _))) => {
                pure(searching(action, other), Strength::Strong)
            }
            // `git_log`: "Shows the logs". But `post_update`: "Reports that …" is no read.
            (Some((Changes(action), Sure::Perhaps)), Some((Reads(_), _)))
                if !self.ends_the_name() && !self.told_firmly() =>
            {
                mutates(action, Strength::Weak)
            }
            (_, Some((Reads(action), Sure::Yes))) => pure(action, Strength::Fair),
            (Some((Changes(action), Sure::Perhaps)), None) if self.names_a_thing() => {
                if self.described == Opening::Thing {
                    pure(Action::Read, Strength::Weak)
                } else {
                    mutates(action, Strength::Weak)
                }
            }
            (Some((Changes(action), Sure::Perhaps)), _) => mutates(action, Strength::Fair),
            (_, Some((Changes(action), Sure::Perhaps))) => mutates(action, Strength::Fair),
            (Some((Reads(action), Sure::Perhaps)), Some((Depends(_), _)) | None) => pure(action, Strength::Fair),
            (_, Some((Reads(action), Sure::Perhaps))) => pure(action, Strength::Weak),
            (Some((Depends(_), _)), _) | (_, Some((Depends(_), _))) if only_reads => pure(Action::Read, Strength::Weak),
            (Some((Depends(_), _)), _) | (_, Some((Depends(_), _))) if self.has(Gives::WritesFile) => {
                mutates(Action::Create, Strength::Fair)
            }
            (Some((Depends(action), _)), _) | (_, Some((Depends(action), _))) => unknown(action),
            (None, None) if self.has(Gives::RunsCode) && !only_reads => mutates(Action::Execute, Strength::Fair),
            (None, None) if only_reads || self.described == Opening::Thing || self.has(Gives::Returns) => {
                pure(Action::Read, Strength::Weak)
            }
            (None, None) => unknown(Action::Unknown),
        }
    }

    /// The action that the description gives to the name's own verb, whose object the name leaves out.
    fn told_of_the_same(&self) -> Option<Action> {
        match (self.name.as_ref()?, self.act()?) {
            (name, Act { effect: Effect::Changes(action), base, .. }) if name.base == *base => Some(*action),
            _ => None,
        }
    }

    /// Whether the name's verb is its last word, where nouns stand.
    fn ends_the_name(&self) -> bool {
        self.name_words.len() > 1 && self.name.as_ref().is_some_and(|act| self.name_words.last() == Some(&act.word))
    }

    /// Whether the description opens with a word that is a verb beyond doubt.
    fn told_firmly(&self) -> bool {
        self.act().is_some_and(|act| act.firmness != Firmness::Either)
    }

    /// Whether the name's only verb is a noun at its end, such as `latest_order`.
    fn names_a_thing(&self) -> bool {
        self.name.as_ref().is_some_and(|act| act.place == Place::Later)
    }

    /// What speaks against a read, whatever the verbs say.
    fn doubt(&self) -> Option<Action> {
        if self.has(Gives::Does) {
            return Some(Action::Unknown);
        }
        if self.has(Gives::WritesFile) {
            return Some(Action::Create);
        }
        if self.has(Gives::OnlyReads) {
            return None;
        }
        let denies = self.has(Gives::Denies);
        let analyses = |act: &Act| words::among(act.base, ANALYSES);
        let analysed = self.name.as_ref().is_some_and(analyses) || self.act().is_some_and(analyses);
        let sure = |act: &Act| matches!(act.effect, Effect::Reads(_)) && act.sure == Sure::Yes;
        let twice = self.name.as_ref().is_some_and(sure) && self.act().is_some_and(sure);
        if self.has(Gives::Changes) || (self.has(Gives::MayChange) && !twice && !denies) {
            Some(Action::Unknown)
        } else if self.has(Gives::RunsCode) && !analysed && !denies {
            Some(Action::Execute)
        } else {
            None
        }
    }

    /// What comes back: the object's domain, unless the verb makes something else of it.
    fn domain(&self, mutability: Mutability, action: Action, phrases: &[&[String]]) -> OutputDomain {
        let base = self
            .name
            .as_ref()
            .map(|act| act.base)
            .filter(|base| !base.is_empty())
            .or(self.act().map(|act| act.base))
            .unwrap_or("");
        let shows_diff = self.tells.iter().any(|tell| tell.gives == Gives::Returns && tell.span.contains("diff"));
        match mutability {
            Mutability::Pure if self.runs() == Runs::Statement || words::among(base, MEASURES) => OutputDomain::Data,
            Mutability::Pure if base == "diff" => OutputDomain::Diff,
            Mutability::Pure if words::among(base, WORDS_OUT) => OutputDomain::Content,
            Mutability::Mutates if action == Action::Update && shows_diff => OutputDomain::Diff,
            Mutability::Mutates if words::among(base, "commit push") && action != Action::Execute => OutputDomain::Ref,
            Mutability::Mutates if base == "write" => OutputDomain::Ack,
            Mutability::Pure | Mutability::Mutates => objects::output(mutability, action, phrases, self.runs()),
        }
    }

    /// The phrases that name what it is done to: the name's, then the description's.
    fn named(&self) -> Vec<&[String]> {
        let of_name = self.name.as_ref().map_or(self.name_words.as_slice(), |act| &act.object);
        let sentence = self.act().map_or(self.first_sentence.as_slice(), |act| &act.object);
        vec![of_name, sentence]
    }

    /// What a parameter lets one run.
    fn runs(&self) -> Runs {
        let spans = || self.tells.iter().filter(|tell| tell.gives == Gives::RunsCode).map(|tell| tell.span.as_str());
        if spans().any(|span| words::among(span, "sql query queries statement")) {
            Runs::Statement
        } else if spans().next().is_some() {
            Runs::Code
        } else {
            Runs::Nothing
        }
    }

    fn evidence(&self, says: Claim, strength: Strength) -> Vec<Evidence> {
        let piece = |span: String, says: Claim, strength| Evidence { source: Source::Inferred, says, span, strength };
        let mut pieces = Vec::new();
        let deciding = |effect: Effect| match effect {
            Effect::Reads(_) => Some(Mutability::Pure),
            Effect::Changes(_) => Some(Mutability::Mutates),
            Effect::Depends(_) => None,
        };
        for (place, act) in [("name", self.name.as_ref()), ("description", self.act())] {
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
                Gives::OnlyReads | Gives::Denies | Gives::SelectsReads | Gives::Returns => Mutability::Pure,
                Gives::Changes
                | Gives::Does
                | Gives::MayChange
                | Gives::WritesFile
                | Gives::Selects(_)
                | Gives::RunsCode => Mutability::Mutates,
            };
            let claim = Claim { mutability: Some(mutability), ..Claim::default() };
            pieces.push(piece(tell.span.clone(), claim, Strength::Fair));
        }
        pieces
    }
}

/// What a description opens with: its first sentence that is plain, where later ones must speak of the tool itself.
fn described(description: &str) -> Opening {
    let mut headings = Opening::Unclear;
    let mut heading = true;
    for sentence in tells::sentences(description).take(4) {
        let words = words::of_sentence(sentence);
        match reading::of_sentence(&words) {
            // An imperative in a later sentence is said to the model, unless all before it was a heading.
            Opening::Act(act)
                if heading || (act.form == Form::Third && words::among(act.base, tells::UNMISTAKABLE)) =>
            {
                return Opening::Act(act);
            }
            Opening::Thing if heading && words.len() > 4 => return Opening::Thing,
            Opening::Thing if heading => headings = Opening::Thing,
            Opening::Act(_) | Opening::Thing | Opening::Unclear => {}
        }
        heading = heading && words.len() <= 4;
    }
    headings
}

/// Of two words for one read, searching is the narrower.
fn searching(one: Action, other: Action) -> Action {
    if [one, other].contains(&Action::Search) { Action::Search } else { one }
}

/// Verbs that look at code or statements without running them.
const ANALYSES: &str = "explain validate parse check lint analyze analyse convert translate compare verify review estimate \
    summarize detect inspect audit encode decode hash count extract tokenize normalize trace classify rank \
    assess measure diff profile scan describe understand identify generate calculate compute solve simplify \
    lookup";

/// Verbs that say nothing of what is done.
const VAGUE: &str = "manage handle operate process use interact administer perform work";

/// Verbs that say that something is run.
const RUNS: &str = "execute run invoke call perform";

/// Verbs whose result is a finding, whatever they look at.
const MEASURES: &str = "lint validate check analyze analyse count compare evaluate verify measure audit scan calculate compute estimate predict \
    classify detect rerank rank score assess rate benchmark profile ping";

/// Verbs whose result is a text.
const WORDS_OUT: &str = "translate transcribe summarize summarise paraphrase rephrase generate ocr proofread";

/// What is run when something is only asked for.
const ASKED: &str = "query queries search lookup request select predictive forecast prediction";

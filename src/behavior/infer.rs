//! What a definition's words say it does and gives back: action, output domain, content type. Decides no badge: that is
//! the voters' and `conclude`'s.

use super::evidence::Claim;
use super::objects::{self, MEASURES, Runs, WORDS_OUT};
use super::taxonomy::{Action, Mutability, OutputDomain};
use super::voters::{Says, Vote, description, name};
use super::words::{self, among};
use crate::mcp::tool::Tool;

/// Reads action, output domain and content type of a tool that was found to be of this mutability.
///
/// `votes` are those of name, description and model; the action is the name's verb, else the description's.
pub fn claim(tool: &Tool, votes: &[Vote; 3], mutability: Mutability) -> Claim {
    let [by_name, by_description, _] = votes;
    let named = name::of_name(&words::of_name(&tool.name));
    let opened = description::opened(tool);
    let runs = match description::runs(tool).as_deref() {
        Some(parameter) if among(parameter, "sql query queries statement") => Runs::Statement,
        Some(_) => Runs::Code,
        None => Runs::Nothing,
    };
    let action = match mutability {
        Mutability::Pure if runs == Runs::Statement => Action::Read,
        Mutability::Pure => {
            let searches = [by_name, by_description].iter().any(|vote| vote.action == Some(Action::Search));
            if searches { Action::Search } else { Action::Read }
        }
        Mutability::Mutates => {
            let changes = |vote: &&&Vote| vote.says == Says::Changes;
            [by_name, by_description].iter().find(changes).and_then(|vote| vote.action).unwrap_or(Action::Unknown)
        }
    };
    let phrases = [named.object.as_slice(), opened.object.as_slice()];
    // What comes back: the object's domain, unless the verb makes something else of it.
    let verb = if named.verb.is_empty() { &opened.verb } else { &named.verb };
    let is = |list: &str| words::base(verb, |base| among(base, list).then_some(())).is_some();
    let output_domain = match mutability {
        Mutability::Pure if runs == Runs::Statement || is(MEASURES) => OutputDomain::Data,
        Mutability::Pure if is("diff") => OutputDomain::Diff,
        Mutability::Pure if is(WORDS_OUT) => OutputDomain::Content,
        Mutability::Mutates if is("commit push") && action != Action::Execute => OutputDomain::Ref,
        Mutability::Mutates if is("write") => OutputDomain::Ack,
        Mutability::Pure | Mutability::Mutates => objects::output(mutability, action, &phrases, runs),
    };
    let near = phrases.iter().flat_map(|phrase| phrase.iter().take(8)).map(String::as_str);
    let content_type = objects::content_type(near, output_domain);
    Claim {
        mutability: Some(mutability),
        action: Some(action),
        output_domain: Some(output_domain),
        content_type: Some(content_type),
    }
}

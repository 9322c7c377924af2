//! KQL: a table and operators that read, joined by `|`. A text that begins with a dot is a command to the cluster.

use super::{Grammar, Names, Token, tokens};
use crate::behavior::arguments::effect::{Effect, Meaning};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{among, section};

const WORDS: &str = include_str!("../../../../assets/words/grammar.txt");

/// What a text of KQL does.
pub fn read(text: &str) -> Meaning {
    let text = text.trim();
    if let Some(command) = text.strip_prefix('.') {
        let word: String = command.chars().take_while(char::is_ascii_alphabetic).collect();
        let action = match word.as_str() {
            "drop" | "delete" | "purge" | "clear" => Action::Delete,
            "create" | "ingest" | "append" => Action::Create,
            "set" | "alter" | "add" | "rename" | "move" | "replace" => Action::Update,
            "execute" => Action::Execute,
            _ => Action::Unknown,
        };
        return Meaning::new(Effect::of(action), action, text, format!("a control command, .{word}"));
    }
    // `project-away` is one word here.
    let joined = ["away", "keep", "rename", "reorder", "operator"]
        .iter()
        .fold(text.to_owned(), |text, later| text.replace(&format!("project-{later}"), "project"));
    let joined =
        joined.replace("mv-expand", "mvexpand").replace("mv-apply", "mvapply").replace("make-series", "makeseries");
    match tokens(&joined, KQL.quotes, KQL.signs) {
        Some(tokens) if pipes_fit(&tokens) => KQL.read(&joined),
        _ => KQL.unread(text),
    }
}

/// Whether the word behind each `|` is an operator that reads.
fn pipes_fit(tokens: &[Token<'_>]) -> bool {
    tokens.windows(2).all(|two| match two {
        [Token::Sign('|'), Token::Word(word)] => among(word, OPERATORS),
        [Token::Sign('|'), _] => false,
        _ => true,
    })
}

const OPERATORS: &str = "where filter project extend summarize take limit top sort order count distinct join union parse mvexpand mvapply \
    makeseries render as lookup serialize sample getschema search find range print reduce";

const KQL: Grammar = Grammar {
    language: "KQL",
    begins: "",
    keywords: section(WORDS, "kql-keywords"),
    functions: section(WORDS, "kql-functions"),
    changes: &[],
    signs: "()[]{}=!~<>+-*/%,.:|;$",
    quotes: "'\"",
    markers: ".$",
    names: Names::Operands,
};

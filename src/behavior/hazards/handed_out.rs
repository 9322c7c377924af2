//! Tools that say they return secrets: keys, tokens, the environment. Knows no place and no argument.

use crate::behavior::words;

/// What a tool's name or first sentence says it hands out, where that is a secret or the environment.
pub fn found(name: &str, first_sentence: &str) -> Option<String> {
    let name_words = words::of_name(name);
    let sentence_words = words::of_sentence(first_sentence);
    secret(&name_words, Place::Name).or_else(|| secret(&sentence_words, Place::Sentence))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Name,
    Sentence,
}

fn secret(words: &[String], place: Place) -> Option<String> {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    for at in 0..words.len() {
        let (this, next) = (word(at), word(at + 1));
        // "Using your credentials", "with an API key": what it takes, not what it hands out.
        let taken = words[at.saturating_sub(4)..at].iter().any(|before| {
            matches!(
                before.as_str(),
                "using"
                    | "with"
                    | "via"
                    | "requires"
                    | "require"
                    | "needs"
                    | "from"
                    | "by"
                    | "without"
                    | "in"
                    | "this"
                    | "current"
                    | "no"
                    | "valid"
            )
        });
        if taken && place == Place::Sentence {
            continue;
        }
        let found = match (this, next) {
            (
                "secret" | "secrets" | "password" | "passwords" | "credential" | "credentials" | "keychain"
                | "printenv" | "getenv" | "dotenv" | "passphrase" | "keystore" | "apikey" | "apikeys",
                _,
            ) => this.to_owned(),
            ("api" | "private" | "ssh" | "access" | "encryption" | "signing" | "account", "key" | "keys") => {
                format!("{this} {next}")
            }
            (
                "access" | "auth" | "api" | "bearer" | "refresh" | "session" | "authentication" | "oauth",
                "token" | "tokens",
            ) => format!("{this} {next}"),
            ("environment" | "env", "variable" | "variables" | "var" | "vars") => {
                format!("{this} {next}")
            }
            ("connection", "string" | "strings")
            | ("recovery" | "backup" | "verification" | "otp", "code" | "codes") => {
                format!("{this} {next}")
            }
            ("env", "") if place == Place::Name => this.to_owned(),
            ("session", "cookies") | ("cookies", "") => format!("{this} {next}").trim_end().to_owned(),
            _ => continue,
        };
        return Some(found);
    }
    None
}

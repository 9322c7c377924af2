//! What comes back: output domain and content type, read off the things a definition names.

use serde_json::Value;

use super::taxonomy::{Action, ContentType, Mutability, OutputDomain};

/// The domain that a word names; `None` for a word that tells nothing.
pub fn domain(word: &str) -> Option<OutputDomain> {
    use OutputDomain as D;
    let find = |word: &str| {
        TABLE.iter().find(|(_, words)| words.split_whitespace().any(|known| known == word)).map(|(domain, _)| *domain)
    };
    let singular = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    let found = find(word)
        .or_else(|| singular.as_deref().and_then(find))
        .or_else(|| word.strip_suffix('s').and_then(find))
        .or_else(|| word.strip_suffix("es").and_then(find))?;
    (found != D::Unknown).then_some(found)
}

const TABLE: &[(OutputDomain, &str)] = &[
    (OutputDomain::Diff, "diff difference patch blame changeset delta"),
    (OutputDomain::Pr, "pr pullrequest mr mergerequest"),
    (OutputDomain::Issue, "issue ticket task bug story epic todo card subtask incident defect milestone sprint"),
    (OutputDomain::Ref, "branch tag commit ref revision sha"),
    (OutputDomain::Repo, "repo repository fork"),
    (
        OutputDomain::User,
        "user member account contact person people profile team assignee employee customer whoami me viewer",
    ),
    (
        OutputDomain::Message,
        "message mail email chat comment notification thread conversation inbox reply sms channel draft reaction mailbox",
    ),
    (
        OutputDomain::Money,
        "payment order price pricing balance invoice refund charge cost billing subscription quote transaction portfolio \
         wallet budget currency tax fee salary",
    ),
    (
        OutputDomain::Infra,
        "server host container cluster node pod network deployment instance vm machine droplet firewall dns domain vps \
         service worker broker device interface emulator simulator datacenter region namespace volume",
    ),
    (OutputDomain::Model, "model prediction run experiment training inference embedding"),
    (
        OutputDomain::Structure,
        "structure tree schema directory folder configuration config settings table database column list layout outline \
         hierarchy option field catalog categories category toc index manifest enum type template workspace project",
    ),
    (
        OutputDomain::Content,
        "content text file document doc documentation image audio video media page screenshot article transcript markdown html \
         pdf code readme snippet summary guide tutorial note wiki blob attachment photo picture slide book chapter body source \
         instructions prompt help script translation story lyrics news",
    ),
];

/// What comes back, from the words of the object, nearest first, and the kind of act.
pub fn output(mutability: Mutability, action: Action, named: &[&str], output_schema: Option<&Value>) -> OutputDomain {
    let found = named.iter().find_map(|word| domain(word));
    match mutability {
        Mutability::Pure => found.unwrap_or(OutputDomain::Data),
        Mutability::Mutates => match (action, output_schema) {
            (Action::Unknown, None) => OutputDomain::Unknown,
            (_, Some(_)) => found.unwrap_or(OutputDomain::Ack),
            (_, None) => OutputDomain::Ack,
        },
    }
}

/// The kind of content that some words speak of.
pub fn content_type<'a>(named: impl Iterator<Item = &'a str>, domain: OutputDomain) -> ContentType {
    for word in named {
        match word {
            "image" | "images" | "audio" | "video" | "media" | "binary" | "screenshot" | "photo" | "picture"
            | "zip" | "archive" | "pdf" | "bytes" | "base64" | "speech" | "music" | "thumbnail" | "icon" | "png"
            | "jpeg" | "wav" | "mp3" => {
                return ContentType::Binary;
            }
            "text" | "markdown" | "transcript" | "document" | "documentation" | "docs" | "html" | "readme"
            | "article" | "code" | "file" | "files" | "diff" => {
                return ContentType::Text;
            }
            "json" | "table" | "records" | "rows" | "csv" => return ContentType::Structured,
            _ => {}
        }
    }
    match domain {
        OutputDomain::Content | OutputDomain::Diff => ContentType::Text,
        OutputDomain::Ack | OutputDomain::Unknown => ContentType::Unknown,
        _ => ContentType::Structured,
    }
}

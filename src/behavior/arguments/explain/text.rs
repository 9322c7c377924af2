//! Which closed kind explains one text, by its name's role and its own shape. Reads no language and no schema.

use super::key::Role;
use super::{address, name, pattern, prose, shape};
use crate::behavior::arguments::choice;
use crate::behavior::signs::Signs;
use crate::behavior::words;
use shape::Reads;

/// The kind that explains the text, or why none does.
pub fn of(text: &str, role: Role, depth: usize) -> Result<&'static str, &'static str> {
    of_read(text, role, Reads::Words, depth)
}

/// The same, where a statement may be expected.
pub fn of_read(text: &str, role: Role, reads: Reads, depth: usize) -> Result<&'static str, &'static str> {
    let signs = Signs::of(text);
    if signs.may_control() && text.chars().any(char::is_control) {
        return Err("holds line breaks or control characters, and no parser read all of it");
    }
    let whole = text.len();
    let text = text.trim_matches(' ');
    if text.is_empty() {
        return Ok("empty");
    }
    // The trimmed text may have no spaces left.
    let signs = if text.len() == whole { signs } else { Signs::of(text) };
    if signs.may_be(name::NUMBER) && name::is_number(text) {
        return Ok("a number");
    }
    // A column to sort by may be descending: `-created_at`. A sign and one plain word may be an option.
    let is_column = |name: &str| name.contains('_') && name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_');
    let turns = role == Role::Names && text.strip_prefix('-').is_some_and(is_column);
    if text.starts_with('-') && !turns {
        return Err("begins with \"-\", so it may be an option");
    }
    match role {
        Role::Options => Err("may be an option of a program"),
        Role::Command if name::is_time(text) => Ok("a time"),
        Role::Command => Err("may be a command"),
        Role::Script => Err("may be a script"),
        Role::Condition if matches!(text, "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=") => Ok("a comparison"),
        Role::Identifier if text.contains(' ') => Err("is more than one name"),
        Role::Selector => by_shape(text, signs, role, reads, depth).or_else(|why| match pattern::is_css(text) {
            true => Ok("a selector"),
            false => Err(why),
        }),
        Role::Code if is_bare(text) => Ok("an identifier"),
        Role::Code => Err("may be code"),
        Role::Names if are_names(text) => Ok("names"),
        Role::Names => Err("holds more than names"),
        Role::Pattern if is_line_edit(text) => Err("may be a command of an editor"),
        Role::Pattern => by_shape(text, signs, role, reads, depth).or_else(|why| match pattern::is_pattern(text) {
            true => Ok("a pattern"),
            false => Err(why),
        }),
        Role::Destination if text.contains(['/', '\\', '.', '@', '~', ':']) => {
            Err("names where something is written or sent")
        }
        Role::Schedule if is_schedule(text) => Ok("a schedule"),
        Role::Schedule if text.contains(['*', '@', '/']) => Err("may be an entry that runs something"),
        _ => by_shape(text, signs, role, reads, depth),
    }
}

fn by_shape(text: &str, signs: Signs, role: Role, reads: Reads, depth: usize) -> Result<&'static str, &'static str> {
    if address::is_web(text) {
        return address::check(text, depth).map(|()| "a web address");
    }
    if role == Role::Address && !names_a_place(text) {
        return Err("may be an address that is neither http nor https");
    }
    // `@/etc/args`: programs read their options, or what they send, from such a file.
    if text.starts_with('@') && text.get(1..).is_some_and(|rest| rest.starts_with(['/', '~', '.'])) {
        return Err("may be a file that a program takes its options from");
    }
    if is_issue(text) {
        return Ok("an identifier");
    }
    if matches!(text, "POST" | "PUT" | "PATCH" | "DELETE") {
        return Err("names a method that changes something");
    }
    if shape::is_statement(text, reads) {
        return Err("looks like a statement, and no parser read all of it");
    }
    if names_an_act(text, role) {
        return Err("names an action that changes something");
    }
    if text.starts_with('/') && signs.has(1 << b'?') && signs.has(1 << b'=') {
        return address::check_path(text, depth).map(|()| "a path and its query");
    }
    if name::is_time(text) {
        return Ok("a time");
    } else if name::is_sum(text) {
        return Ok("numbers");
    } else if name::is_color(text) {
        return Ok("a color");
    } else if signs.may_be(name::VERSION) && name::is_version(text) {
        return Ok("a version");
    } else if signs.may_be(name::EMAIL) && name::is_email(text) {
        return Ok("an email address");
    }
    let is_request = is_request(text);
    let is_path = !is_request && signs.may_be(name::A_PATH) && name::is_path(text);
    if is_path && text.contains(['/', '\\', '~', '*', '?']) {
        if changes_an_index(text) {
            Err("is a path of a request that changes something")
        } else if text == "/dev" || text.starts_with("/dev/") {
            Err("is a device, and opening one may change something")
        } else {
            Ok("a path")
        }
    } else if signs.may_be(name::IDENTIFIER) && name::is_identifier(text)
        || text.strip_prefix('^').is_some_and(is_capitals)
    {
        Ok("an identifier")
    } else if signs.may_be(name::IDENTIFIERS) && name::are_identifiers(text) {
        Ok("identifiers")
    } else if is_path {
        Ok("a path")
    } else if pattern::is_json_path(text) {
        Ok("a pattern")
    } else if signs.may_be(pattern::DECLARATION) && pattern::is_declaration(text) {
        Ok("the declaration of a function")
    } else if !is_request && prose::is_plain(text) {
        Ok("plain words")
    } else {
        Err("is neither plain words nor a name, a path or a web address")
    }
}

/// Whether a text under an address's name only names a place: a host with its port, a path, a drive. `host:path` and
/// `ext::…` also choose how it is reached.
fn names_a_place(text: &str) -> bool {
    let Some((before, rest)) = text.split_once(':') else { return true };
    // Schemes that name a thing and lead nowhere.
    if matches!(before, "urn" | "doi" | "arn" | "sc-domain") {
        return true;
    }
    let port = rest.split(['/', '?']).next().unwrap_or(rest);
    let is_drive = before.len() == 1 && rest.starts_with(['/', '\\']);
    is_drive || (!port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())) || text.contains(' ')
}

/// Capitals and digits, behind the sign of an index: `^GSPC`.
fn is_capitals(text: &str) -> bool {
    (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// Whether a text is the key of an issue: `PAY-1187`.
fn is_issue(text: &str) -> bool {
    text.split_once('-').is_some_and(|(project, number)| {
        (2..=10).contains(&project.len())
            && project.bytes().all(|byte| byte.is_ascii_uppercase())
            && (1..=7).contains(&number.len())
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether a text is names with commas between them, each perhaps with a direction: `created_at DESC, id`.
fn are_names(text: &str) -> bool {
    text.len() <= 512
        && text.split(',').all(|part| {
            let mut words = part.split(' ').filter(|word| !word.is_empty());
            let is_name =
                |word: &str| word.chars().all(|c| name::is_letter(c) || matches!(c, '_' | '.' | '-' | '*' | ':'));
            words.next().is_some_and(|first| is_name(first.trim_start_matches(['-', '+'])))
                && words.all(|word| {
                    ["asc", "desc", "nulls", "first", "last", "ascending", "descending", "collate", "nocase"]
                        .iter()
                        .any(|known| word.eq_ignore_ascii_case(known))
                })
        })
}

/// One word that no language runs by itself: `Order.last.touch` is a chain of calls in some.
fn is_bare(text: &str) -> bool {
    let calls = text.split('.').skip(1).any(|part| part.starts_with(char::is_alphabetic));
    text.len() <= 64 && !calls && text.chars().all(|c| name::is_letter(c) || matches!(c, '_' | '-' | '/' | '.'))
}

/// Whether the text is a request in one line: `DELETE /index`.
fn is_request(text: &str) -> bool {
    let Some((method, rest)) = text.split_once(' ') else { return false };
    rest.trim_start().starts_with(['/', '_'])
        && method.len() >= 3
        && method.bytes().all(|byte| byte.is_ascii_uppercase())
        && !matches!(method, "GET" | "HEAD")
}

/// Whether a path ends in an act of a search engine that changes something: `/users/_delete_by_query`.
fn changes_an_index(text: &str) -> bool {
    use crate::behavior::arguments::grammar::elastic;
    let begins = |(at, _): (usize, &str)| {
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        before.is_none_or(|before| matches!(before, b'/' | b'?' | b'#'))
    };
    text.match_indices('_').any(begins)
        && text.split(['/', '?', '#']).any(|part| part.starts_with('_') && elastic::changes(part))
}

/// Whether a text names an act by the last word of a path or behind a colon: `/jobs/7:cancel`, `me/sendMail`.
fn names_an_act(text: &str, role: Role) -> bool {
    // `refund-flow` is a slug; acts of interfaces are written in one word.
    let is_one = |word: &str| {
        !word.contains(['-', '#']) && words::of_name(word).first().is_some_and(|first| choice::is_firm_change(first))
    };
    if text.contains(' ') {
        return false;
    }
    if !text.contains(['/', ':']) {
        // A call by its name: `User.deleteMany`. A statement that is kept under its name: `DeleteUserMutation`.
        let call = text.rsplit_once('.').is_some_and(|(_, act)| !act.contains('_') && is_one(act));
        return call || (text.to_ascii_lowercase().ends_with("mutation") && is_one(text));
    }
    let path = text.split(['?', '#']).next().unwrap_or(text);
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let by_colon = last.rsplit_once(':').is_some_and(|(_, act)| is_one(act) && path.contains('/'));
    // A file has an extension; an act of an interface has none, or the long name of a function.
    let act = match last.rsplit_once('.') {
        Some((_, extension)) if extension.len() <= 5 => "",
        Some((_, act)) => act,
        None => last,
    };
    let of_interface =
        text.starts_with("/api") || text.starts_with("/v1") || text.starts_with("/v2") || role == Role::Address;
    let administers = of_interface && path.split('/').any(|part| part == "admin");
    by_colon || (path.contains('/') && is_one(act)) || administers || path.split('/').any(|part| part == "-")
}

/// Whether a text is the fields of cron: `*/5 0 1,15 * MON`.
fn is_schedule(text: &str) -> bool {
    let fits =
        |c: char| c.is_ascii_digit() || c.is_ascii_uppercase() || matches!(c, '*' | '/' | ',' | '-' | '?' | '#' | ' ');
    let fields = text.split(' ').filter(|field| !field.is_empty()).count();
    (5..=7).contains(&fields) && text.chars().all(fits)
}

/// Whether a text begins as a line of an editor's script does: a line number, and one letter.
fn is_line_edit(text: &str) -> bool {
    if text.starts_with(['s', 'y'])
        && text.get(1..).is_some_and(|rest| rest.starts_with('/'))
        && text.matches('/').count() >= 3
    {
        return true;
    }
    let Some((head, _)) = text.split_once(' ') else { return false };
    let letter = head.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',' || c == '$');
    letter.len() == 1 && letter.len() < head.len() && letter.bytes().all(|byte| byte.is_ascii_alphabetic())
}

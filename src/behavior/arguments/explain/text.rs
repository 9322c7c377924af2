//! Which closed kind explains one text, by its name's role and its own shape. Reads no language and no schema.

use super::key::Role;
use super::{address, name, pattern, prose};
use prose::Reads;

/// The kind that explains the text, or why none does.
pub fn of(text: &str, role: Role, depth: usize) -> Result<&'static str, &'static str> {
    of_read(text, role, Reads::Words, depth)
}

/// The same, where a statement may be expected.
pub fn of_read(text: &str, role: Role, reads: Reads, depth: usize) -> Result<&'static str, &'static str> {
    if text.chars().any(|c| c.is_control()) {
        return Err("holds line ends or control characters, and no reader took it as a whole");
    }
    let text = text.trim_matches(' ');
    if text.is_empty() {
        return Ok("empty");
    }
    if name::is_number(text) {
        return Ok("a number");
    }
    if text.starts_with('-') {
        return Err("begins with \"-\", so it may be an option");
    }
    match role {
        Role::Options => Err("may be an option of a program"),
        Role::Command if name::is_time(text) => Ok("a time"),
        Role::Command => Err("may be a command"),
        Role::Code if is_bare(text) => Ok("an identifier"),
        Role::Code => Err("may be code"),
        Role::Pattern => shape(text, role, reads, depth).or_else(|why| match pattern::is_pattern(text) {
            true => Ok("a pattern"),
            false => Err(why),
        }),
        Role::Plain | Role::Open | Role::Condition | Role::Address | Role::Headers => shape(text, role, reads, depth),
    }
}

fn shape(text: &str, role: Role, reads: Reads, depth: usize) -> Result<&'static str, &'static str> {
    if address::is_web(text) {
        return address::check(text, depth).map(|()| "a web address");
    }
    if role == Role::Address && !names_a_place(text) {
        return Err("may be an address that is neither http nor https");
    }
    if prose::is_statement(text, reads) {
        return Err("has the shape of a statement that no reader took as a whole");
    }
    if name::is_time(text) {
        Ok("a time")
    } else if name::is_version(text) {
        Ok("a version")
    } else if name::is_email(text) {
        Ok("an email address")
    } else if !is_request(text) && name::is_path(text) && text.contains(['/', '\\', '~', '*', '?']) {
        if changes_an_index(text) { Err("is a path of a request that changes something") } else { Ok("a path") }
    } else if name::is_identifier(text) {
        Ok("an identifier")
    } else if name::are_identifiers(text) {
        Ok("identifiers")
    } else if !is_request(text) && name::is_path(text) {
        Ok("a path")
    } else if pattern::is_json_path(text) {
        Ok("a pattern")
    } else if !is_request(text) && prose::is_plain(text) {
        Ok("plain words")
    } else {
        Err("is neither plain words nor a name, a path or a web address")
    }
}

/// Whether an address without a scheme is one of a place: a host with its port, a path, a drive. `host:path` and `ext::…` name
/// a way to go.
fn names_a_place(text: &str) -> bool {
    let Some((before, rest)) = text.split_once(':') else { return true };
    let port = rest.split(['/', '?']).next().unwrap_or(rest);
    let is_drive = before.len() == 1 && rest.starts_with(['/', '\\']);
    is_drive || (!port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())) || text.contains(' ')
}

/// One word that no language runs by itself.
fn is_bare(text: &str) -> bool {
    text.len() <= 64 && text.chars().all(|c| name::is_letter(c) || matches!(c, '_' | '-' | '/' | '.'))
}

/// Whether the text is a request in one line: `DELETE /index`.
fn is_request(text: &str) -> bool {
    let Some((method, rest)) = text.split_once(' ') else { return false };
    rest.trim_start().starts_with(['/', '_']) && method.len() >= 3 && method.bytes().all(|byte| byte.is_ascii_uppercase())
        && !matches!(method, "GET" | "HEAD")
}

/// Whether a path ends in an act of a search engine that changes something: `/users/_delete_by_query`.
fn changes_an_index(text: &str) -> bool {
    use crate::behavior::arguments::grammar::elastic;
    text.split(['/', '?']).any(|part| part.starts_with('_') && elastic::changes(part))
}

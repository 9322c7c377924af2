//! Requests other than `tools/call`, of the host and of the server: which of them can be held, and what one is about.
//! Owns no judgement.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// The method of a call.
pub const CALL: &str = "tools/call";

/// Whether rules decide on a method. They do not on the handshake and pings, which keep the session itself alive; on
/// `tools/list`, which the gate needs to judge calls and to cut scopes; and on notifications, which cannot wait.
pub fn is_ruled(method: &str) -> bool {
    !matches!(method, "initialize" | "ping" | "server/discover" | "tools/list") && !method.starts_with("notifications/")
}

/// What a request is about, by its `params`: an address, a prompt's name, a task, a question. Foreign text.
pub fn target(params: &Value) -> Option<&str> {
    let pointers = ["/uri", "/name", "/ref/name", "/ref/uri", "/taskId", "/message"];
    let named = pointers.iter().find_map(|pointer| params.pointer(pointer)?.as_str());
    named.or_else(|| params.get("messages")?.as_array()?.last()?.pointer("/content/text")?.as_str())
}

/// What rules see of a request as its arguments: its `params`, and for the address of a file also its `path`, so that a
/// rule can say `under`. A `path` that the caller wrote beside an address is dropped: it could name another file than
/// is read.
pub fn arguments(mut params: Value) -> Value {
    if let Some(fields) = params.as_object_mut()
        && let Some(uri) = fields.get("uri")
    {
        match uri.as_str().and_then(path_of) {
            Some(path) => drop(fields.insert("path".to_owned(), path.into())),
            None => drop(fields.remove("path")),
        }
    }
    params
}

/// The decoded path in a `file:` address of this machine. `None` where readers differ on what the path is: some end it
/// at `?` and `#`, some do not.
pub fn path_of(uri: &str) -> Option<String> {
    let scheme = uri.get(..5)?;
    let rest = uri.get(5..).filter(|_| scheme.eq_ignore_ascii_case("file:"))?;
    // `file:/path` and `file:///path` are the same file.
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => rest,
    };
    if !path.starts_with('/') || path.contains(['?', '#']) {
        return None;
    }
    percent_decode_str(path).decode_utf8().ok().map(Cow::into_owned)
}

/// Whether an address is of a file, whatever the spelling of its scheme.
pub fn is_file(uri: &str) -> bool {
    uri.trim_start().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{is_file, is_ruled, path_of, target};

    #[test]
    fn a_file_address_is_read_in_every_spelling() {
        assert_eq!(path_of("file:///home/ada/my%20work/%C3%A9").as_deref(), Some("/home/ada/my work/é"));
        assert_eq!(path_of("file://localhost/srv/%zz").as_deref(), Some("/srv/%zz"));
        assert_eq!(path_of("file:///srv/%+5%-5%5").as_deref(), Some("/srv/%+5%-5%5"), "a sign is no digit");
        assert_eq!(path_of("FILE:/etc/passwd").as_deref(), Some("/etc/passwd"));
        assert_eq!(path_of("file:///etc/%23%3f").as_deref(), Some("/etc/#?"));
        for odd in
            ["file:///etc/passwd#top", "file:///srv/x?/../../etc", "file://elsewhere/srv", "file:srv", "file:~/a"]
        {
            assert_eq!(path_of(odd), None, "{odd}");
        }
        assert_eq!(path_of("https://example.org/x"), None);
        assert!(is_file(" File:///x") && !is_file("profile:///x"));
    }

    #[test]
    fn a_request_is_about_what_its_params_name_first() {
        assert_eq!(target(&json!({"uri": "file:///a"})), Some("file:///a"));
        assert_eq!(target(&json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {}})), Some("p"));
        let messages = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]});
        assert_eq!(target(&messages), Some("hi"));
        assert_eq!(target(&json!(null)), None);
        assert!(
            is_ruled("resources/read")
                && !is_ruled("initialize")
                && !is_ruled("tools/list")
                && !is_ruled("notifications/cancelled")
        );
    }
}

//! The bridge to a server behind a URL: which URLs and headers it takes, and that no header is on a command line.

use mcp_approve::home::remote::{Bridge, Unreachable};

fn bridge(url: &str, headers: &[&str]) -> Result<Bridge, Unreachable> {
    let headers: Vec<String> = headers.iter().map(|header| (*header).to_owned()).collect();
    Bridge::to(url, &headers, |name| (name == "TOKEN").then(|| "s3cret".to_owned()))
}

#[test]
fn a_header_is_on_no_command_line() {
    let bridge = bridge("https://mcp.example.com/mcp?x=1", &["Authorization: Bearer ${TOKEN}", "X-Team: a:b"]).unwrap();
    let words: Vec<_> = bridge.command.iter().map(|word| word.to_str().unwrap()).collect();
    let shown = "npx -y mcp-remote@0.15.1 https://mcp.example.com/mcp?x=1 \
        --header Authorization:${MCP_APPROVE_HEADER_1} --header X-Team:${MCP_APPROVE_HEADER_2}";
    assert_eq!(words.join(" "), shown);
    let values: Vec<_> = bridge.environment.iter().map(|(_, value)| value.to_str().unwrap()).collect();
    assert_eq!(values, ["Bearer s3cret", "a:b"]);
}

#[test]
fn http_is_for_this_machine() {
    for url in ["http://localhost:3000/mcp", "http://127.0.0.1/mcp", "http://[::1]:1/", "http://127.9.9.9"] {
        assert!(bridge(url, &[]).unwrap().command.contains(&"--allow-http".into()), "{url}");
    }
    for url in [
        "http://example.com/mcp", "http://localhost.example.com", "http://127.0.0.1.example.com", "http://127.1/",
        "http://0.0.0.0/", "http://localhost@example.com/", "http://[::2]/", "https://user:password@example.com/mcp",
        "https:///mcp", "https://exa mple.com", "https://example.com/\u{202e}", "https://example.com/`id`",
        "ftp://example.com", "HTTPS://example.com", "example.com",
    ] {
        assert!(bridge(url, &[]).is_err(), "{url}");
    }
}

#[test]
fn a_header_that_cannot_be_sent_is_not_repeated() {
    for header in ["s3cret", "a b: s3cret", ": s3cret", "X: s3cret\nY: 1", "X:", "X: s3cret ${NONE}"] {
        let error = bridge("https://example.com", &[header]).unwrap_err();
        assert!(!format!("{error} {}", error.hint).contains("s3cret"), "{header}: {error}");
    }
}

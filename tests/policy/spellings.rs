//! One table of spellings of an argument: what each predicate says of each.

use mcp_approve::policy::glob::{Glob, Holds};
use serde_json::Value;

use super::conditions::stands;

const PREDICATES: [&str; 7] = [
    "arg = 'a', glob = '/srv/*'",
    "arg = 'a', glob = 'https://*.example.com/*'",
    "arg = 'a', under = '/srv'",
    "arg = 'a', eq = '/srv/x'",
    "arg = 'a', in = ['/srv/x', 'https://api.example.com/x']",
    "arg = 'a', present = true",
    "arg = 'a', absent = true",
];

#[test]
fn spellings_of_an_argument() {
    let mut wrong = Vec::new();
    for line in include_str!("spellings.txt").lines() {
        let (arguments, signs) = line.split_at(line.rfind('}').unwrap() + 1);
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|error| panic!("{line}: {error}"));
        let signs: Vec<&str> = signs.split_whitespace().collect();
        assert_eq!(signs.len(), PREDICATES.len(), "{line}");
        for (predicate, sign) in PREDICATES.into_iter().zip(signs) {
            let found = of(stands(predicate, &arguments));
            if found != sign {
                wrong.push(format!("{predicate} on {arguments}: {found}, not {sign}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A glob over addresses, an address, and whether it matches.
#[test]
fn globs_over_addresses() {
    let mut wrong = Vec::new();
    for (glob, text, sign) in [
        ("https://example.com", "https://example.com/", "+"),
        ("https://example.com", "https://example.com/x", "-"),
        ("https://example.com/x", "https://EXAMPLE.com/x", "+"),
        ("https://example.com/x", "https://example.com/X", "-"),
        ("https://example.com/x", "https://example.com/x?y=1", "?"),
        ("https://example.com/x", "https://example.com/%78", "?"),
        ("https://example.com*", "https://example.com/x?y", "+"),
        ("https://example.com*", "https://example.com.evil.io/x", "?"),
        ("https://*", "https://evil.io/x?y#z", "+"),
        ("https://*", "http://evil.io/x", "-"),
        ("http*://*.example.com/*", "https://a.example.com/x", "+"),
        ("*://evil.io/*", "gopher://evil.io/x", "+"),
        ("*://evil.io/*", "see https://evil.io/x", "?"),
        ("https://api-*.example.com/*", "https://api-eu.example.com/x", "+"),
        ("https://api-*.example.com/*", "https://api-a.b.example.com/x", "?"),
        ("https://api.*.example.com/*", "https://api.eu.example.com/x", "+"),
        ("https://*evil.io/*", "https://a.evil.io/x", "?"),
        ("https://*evil.io/*", "https://devil.io/x", "+"),
        ("https://*.example.com./*", "https://a.example.com/x", "+"),
        ("http://localhost:*/*", "http://localhost:8080/x", "+"),
        ("http://localhost:8080/*", "http://localhost/x", "-"),
        ("https://example.com:443/*", "https://example.com/x", "+"),
        ("https://example.com/*/edit", "https://example.com/a/edit", "+"),
        ("https://example.com/*/edit", "https://example.com/a?x=/edit", "-"),
        ("https://example.com/*/edit", "https://example.com/a/edit?x=1", "?"),
        ("https://example.com/s?q=*", "https://example.com/s?q=a", "+"),
        ("https://example.com/s?q=*", "https://example.com/s?r=a", "-"),
        ("https://example.com/v?/x", "https://example.com/v1/x", "+"),
        ("https://example.com/v?/x", "https://example.com/v1/x?y", "-"),
        ("https://example.com/*?q=*", "https://example.com/a?b?q=c", "?"),
        ("file:///srv/*", "file:///srv/x", "+"),
        ("s3://bucket/*", "s3://bucket/key", "+"),
        ("s3://bucket/*", "s3://other/bucket/key", "-"),
        // A glob that is none over addresses.
        ("*.md", "https://evil.io/x.md", "?"),
        ("*.md", "https://evil.io/x.txt", "-"),
        ("*", "https://evil.io/x.md", "+"),
        ("*", "a\nb", "?"),
        ("a\n*", "a\nb", "+"),
        ("a\n*", "a\nb\nc", "?"),
        ("a?b", "a\u{2028}b", "?"),
    ] {
        let found = of(Glob::new(glob).unwrap().holds(text));
        if found != sign {
            wrong.push(format!("{glob} on {text}: {found}, not {sign}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn of(holds: Holds) -> &'static str {
    match holds {
        Holds::Yes => "+",
        Holds::Undecided => "?",
        Holds::No => "-",
    }
}

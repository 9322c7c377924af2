//! A server's name from its command line, for rules and tickets. Owns no guess about what the server does.
//!
//! The first argument after a known runner, or the program itself, without path, scope, version, extension, and the
//! words `mcp` and `server` at its ends. Only `[A-Za-z0-9._-]` comes out: other bytes never reach a rule or a screen.

mod package;
mod runner;

use std::ffi::OsString;

use super::remote;
use crate::pins::Launch;

/// How long a name may be.
const LONGEST: usize = 64;

/// Words that name no server by themselves: then the folder above gives the name.
const GENERIC: &[&str] = &[
    "index", "main", "cli", "app", "run", "start", "__main__", "dist", "build", "src", "bin", "lib", "out", "target",
    "debug", "release",
];

const EXTENSIONS: &[&str] = &[
    "js", "mjs", "cjs", "ts", "mts", "cts", "py", "pyz", "jar", "sh", "rb", "php", "pl", "exe", "cmd", "bat", "git",
    "whl", "tgz",
];

/// The name of the server that `command` starts.
pub fn of_command(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let target = runner::target(&words);
    let remote = remote::name(target, &words).map(|name| kept(&name)).filter(|name| !name.is_empty());
    remote.unwrap_or_else(|| plain_name(target))
}

/// How a command line starts a server of this name, with its fingerprint.
pub fn launch(name: &str, command: &[OsString]) -> Launch {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    // What `sh -c` runs is a text in the command line; the words after it are its arguments.
    let target = (!words.contains(&"-c")).then(|| runner::target(&words).to_owned());
    Launch::new(name, command, target, package::package(&words))
}

/// Whether a text can be a server's name.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_plain)
}

/// The plain name in a package, path, image or address.
fn plain_name(target: &str) -> String {
    let address = target.split(['?', '#']).next().unwrap_or_default();
    let mut parts = address.split(['/', '\\']).rev().filter(|part| !part.is_empty() && *part != "." && *part != "..");
    let mut first = None;
    // `github/dist/index.js` is `github`: each word that names nothing leads one folder up.
    for part in parts.by_ref().take(4) {
        let stem = without_version_and_extension(part);
        if stem.is_empty() {
            continue;
        }
        let name = without_filler(&stem);
        let generic = GENERIC.contains(&name.to_ascii_lowercase().as_str());
        if !name.is_empty() && !generic {
            return name;
        }
        first.get_or_insert(stem);
    }
    let fallback: String = first.unwrap_or_default();
    if fallback.is_empty() { "server".to_owned() } else { fallback }
}

/// Cuts `@1.2`, `==1.2`, `[extra]`, `:tag`, `@sha256…` and known extensions, and keeps plain characters only.
fn without_version_and_extension(part: &str) -> String {
    // A scope without its package keeps its word: `@scope`.
    let part = part.trim_start_matches('@');
    // `npm:`, `jsr:`, `github:` are before the name, a tag after it.
    let part = match part.split_once(':') {
        Some(("npm" | "jsr" | "github" | "gitlab" | "file", name)) => name.trim_start_matches('@'),
        Some((name, _tag)) => name,
        None => part,
    };
    let end = part.find(['@', '[', '<', '>', '=', '~', '!', ';']).unwrap_or(part.len());
    let mut stem = &part[..end];
    while let Some((before, extension)) = stem.rsplit_once('.') {
        if before.is_empty() || !EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()) {
            break;
        }
        stem = before;
    }
    kept(stem)
}

/// Only plain characters, cut to the length of a name.
fn kept(text: &str) -> String {
    let plain: String = text.chars().map(|c| if is_plain(c) { c } else { '-' }).take(LONGEST).collect();
    plain.trim_matches(['-', '_', '.']).to_owned()
}

/// Cuts the words `mcp` and `server` off both ends; empty when nothing else is left.
fn without_filler(stem: &str) -> String {
    let mut rest = stem;
    loop {
        let before = rest;
        for filler in ["mcp", "server", "servers"] {
            rest = cut_word(rest, filler);
        }
        if rest == before {
            return rest.to_owned();
        }
    }
}

/// `text` without `word` at either end, where a separator or nothing sets it off.
fn cut_word<'t>(text: &'t str, word: &str) -> &'t str {
    const SEPARATORS: [char; 3] = ['-', '_', '.'];
    if text.eq_ignore_ascii_case(word) {
        return "";
    }
    let is_word = |part: &str| part.eq_ignore_ascii_case(word);
    if let Some((first, rest)) = text.split_once(SEPARATORS)
        && is_word(first)
    {
        return rest.trim_matches(SEPARATORS);
    }
    if let Some((rest, last)) = text.rsplit_once(SEPARATORS)
        && is_word(last)
    {
        return rest.trim_matches(SEPARATORS);
    }
    text
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (command, name) in [
            ("npx -y @modelcontextprotocol/server-filesystem /tmp", "filesystem"),
            ("npx @modelcontextprotocol/server-everything@2026.1.1 stdio", "everything"),
            ("/usr/local/bin/npx --yes --package @a/b mcp-github", "github"),
            ("npx -p=@a/b -y some-server", "some"),
            ("npm exec -- @scope/mcp-server-brave", "brave"),
            ("pnpm dlx @upstash/context7-mcp@latest", "context7"),
            ("bunx mcp-server-time", "time"),
            ("bun x @a/notes", "notes"),
            ("bun run ./src/server.ts", "server"),
            ("deno run -A npm:@scope/mcp-weather@1.2", "weather"),
            ("uvx mcp-server-git --repository /r", "git"),
            ("uvx mcp-server-sqlite==0.6.2 --db-path x.db", "sqlite"),
            ("uvx --from git+https://github.com/o/serena serena start-mcp-server", "serena"),
            ("uvx git+https://github.com/o/serena.git@v1", "serena"),
            ("uvx 'fetch[extra]>=1'", "fetch"),
            ("uv run --directory /srv mcp-server-fetch", "fetch"),
            ("uv run python -m mcp_server_time", "time"),
            ("uv tool run mcp-atlassian", "atlassian"),
            ("pipx run mcp-server-time", "time"),
            ("pipx run --spec mcp-server-time==1.0 mcp-time", "time"),
            ("python -m mcp_server_git", "git"),
            ("python3.12 -u -X utf8 -m mcp_server_fetch", "fetch"),
            ("python ./servers/weather_server.py --port 1", "weather"),
            ("python -c pass", "pass"),
            ("node path/to/x.js", "x"),
            ("node --require ts-node/register /opt/servers/github/dist/index.js", "github"),
            ("node ./index.js", "index"),
            ("tsx src/mcp.ts", "mcp"),
            ("docker run -i --rm -e TOKEN -v /a:/b mcp/filesystem", "filesystem"),
            ("docker run -it --rm --env=A=b ghcr.io/github/github-mcp-server:v1 stdio", "github"),
            ("docker run --rm -i --pull always reg.example:5000/team/mcp-notes@sha256:abcd", "notes"),
            ("podman container run --init x/y", "y"),
            ("java -Xmx1g -jar /opt/jenkins-mcp.jar", "jenkins"),
            ("env A=b npx -y @a/mcp-jira", "jira"),
            ("bash ./start.sh", "start"),
            ("sh -c 'exec thing'", "sh"),
            ("/usr/bin/github-mcp-server stdio", "github"),
            ("C:\\tools\\Notes.exe", "Notes"),
            ("mcp-server", "mcp-server"),
            ("server.py", "server"),
            ("my.tool", "my.tool"),
            ("./server\u{202e}evil", "evil"),
            ("npx -y mcp-remote@0.15.1 https://mcp.linear.app/mcp --header A:${B}", "linear"),
            ("npx mcp-remote https://docs.mcp.cloudflare.com/sse", "docs.cloudflare"),
            ("npx mcp-remote http://127.0.0.1:3000/mcp", "127.0.0.1-3000"),
            ("npx mcp-remote http://[::1]:3000/mcp", "1-3000"),
            ("npx mcp-remote https://api.mcp/", "api"),
            ("npx mcp-remote https://---/", "remote"),
            ("npx mcp-remote", "remote"),
            ("npx", "npx"),
            ("npx -y", "npx"),
            ("mcp-approve demo-server", "approve"),
            ("Ünïcode", "n-code"),
            ("日本", "server"),
        ] {
            let words: Vec<OsString> = split(command).into_iter().map(OsString::from).collect();
            let found = of_command(&words);
            assert_eq!(found, name, "{command}");
            assert!(is_name(&found), "{command}");
        }
        assert_eq!(of_command(&[]), "server");
    }

    /// Splits at spaces, except in single quotes.
    fn split(command: &str) -> Vec<String> {
        let pieces = command.split('\'').enumerate();
        pieces
            .flat_map(|(at, piece)| match at % 2 {
                0 => piece.split_whitespace().map(str::to_owned).collect(),
                _ => vec![piece.to_owned()],
            })
            .collect()
    }

    #[test]
    fn every_name_is_plain() {
        for c in (0..0x0011_0000).step_by(97).filter_map(char::from_u32) {
            let name = of_command(&[OsString::from(format!("{c}x{c}"))]);
            assert!(is_name(&name), "{c:?} gives {name:?}");
        }
        let long = OsString::from("a".repeat(500));
        assert!(is_name(&of_command(&[long])));
    }
}

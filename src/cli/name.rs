//! A server's name from its command line, for rules and tickets. Owns no guess about what the server does.
//!
//! The first argument after a known runner, or the program itself, without path, scope, version, extension, and the
//! words `mcp` and `server` at its ends. Only `[A-Za-z0-9._-]` comes out: other bytes never reach a rule or a screen.

use std::ffi::OsString;

/// A name longer than this says nothing more.
const LONGEST: usize = 64;

/// Words that name no server when they stand alone, so the folder above is asked.
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
    let words: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    plain_name(target(&words))
}

/// Whether a text can be a server's name.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_plain)
}

/// How a runner's own options are told from what it runs.
struct Runner {
    /// Options that stand alone; `Others` says what the rest does.
    alone: &'static [&'static str],
    /// Options that take the next word.
    valued: &'static [&'static str],
    others: Others,
    /// Options whose value is what is run.
    target: &'static [&'static str],
}

/// What an option does that is in neither list.
enum Others {
    Alone,
    TakeAValue,
}

const PACKAGES: Runner = Runner {
    alone: &[],
    valued: &[
        "-p",
        "--package",
        "-c",
        "--call",
        "-w",
        "--workspace",
        "--registry",
        "--cache",
        "--prefix",
        "--userconfig",
    ],
    others: Others::Alone,
    target: &[],
};
const UV: Runner = Runner {
    alone: &[],
    valued: &[
        "--from",
        "--with",
        "--with-editable",
        "--with-requirements",
        "-p",
        "--python",
        "-i",
        "--index",
        "--index-url",
        "--default-index",
        "--extra-index-url",
        "-f",
        "--find-links",
        "--directory",
        "--project",
        "--cache-dir",
        "--config-file",
        "--env-file",
        "-C",
        "--config-setting",
        "-P",
        "--upgrade-package",
        "--refresh-package",
        "--extra",
        "--group",
        "--spec",
        "--pip-args",
        "--suffix",
    ],
    others: Others::Alone,
    target: &["-m", "--module"],
};
const PYTHON: Runner = Runner { alone: &[], valued: &["-W", "-X"], others: Others::Alone, target: &["-m"] };
const NODE: Runner = Runner {
    alone: &[],
    valued: &["-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file"],
    others: Others::Alone,
    target: &[],
};
const JAVA: Runner = Runner {
    alone: &[],
    valued: &["-cp", "-classpath", "--class-path", "-p"],
    others: Others::Alone,
    target: &["-jar"],
};
const DOCKER: Runner = Runner {
    alone: &[
        "-i",
        "-t",
        "-d",
        "-q",
        "-P",
        "--interactive",
        "--tty",
        "--detach",
        "--quiet",
        "--publish-all",
        "--rm",
        "--init",
        "--privileged",
        "--read-only",
        "--no-healthcheck",
        "--oom-kill-disable",
        "--sig-proxy",
        "--disable-content-trust",
    ],
    valued: &[],
    others: Others::TakeAValue,
    target: &[],
};

/// The word of a command line that names what is run.
fn target<'w>(words: &[&'w str]) -> &'w str {
    let Some((program, rest)) = words.split_first() else {
        return "";
    };
    let stem = program.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".exe").trim_end_matches(".cmd");
    let second = rest.first().copied().unwrap_or_default();
    let found = match (stem, second) {
        ("npx" | "bunx" | "pnpx", _) => run_by(&PACKAGES, rest),
        ("npm" | "pnpm" | "yarn", "exec" | "x" | "dlx") | ("bun", "x") => run_by(&PACKAGES, &rest[1..]),
        ("bun" | "deno", "run") => run_by(&NODE, &rest[1..]),
        ("uvx", _) => run_by(&UV, rest),
        ("uv" | "pipx" | "poetry" | "hatch", "run") => match run_by(&UV, &rest[1..]) {
            // `uv run python -m x`: one runner inside another.
            Some(inner) => rest.iter().position(|word| *word == inner).map(|at| target(&rest[at..])),
            None => None,
        },
        ("uv", "tool") if rest.get(1) == Some(&"run") => run_by(&UV, &rest[2..]),
        ("docker" | "podman" | "nerdctl", "run") => run_by(&DOCKER, &rest[1..]),
        ("docker" | "podman", "container") if rest.get(1) == Some(&"run") => run_by(&DOCKER, &rest[2..]),
        ("java", _) => run_by(&JAVA, rest),
        ("node" | "nodejs" | "bun" | "tsx" | "ts-node" | "ruby" | "php" | "perl", _) => run_by(&NODE, rest),
        ("sh" | "bash" | "zsh", _) => rest.iter().copied().find(|word| !word.starts_with('-') && !word.contains(' ')),
        ("env", _) => {
            rest.iter().position(|word| !word.starts_with('-') && !word.contains('=')).map(|at| target(&rest[at..]))
        }
        _ if is_python(stem) => run_by(&PYTHON, rest),
        _ => None,
    };
    found.unwrap_or(program)
}

fn is_python(stem: &str) -> bool {
    stem.strip_prefix("python")
        .or_else(|| stem.strip_prefix("pypy"))
        .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// The first word after a runner's options.
fn run_by<'w>(runner: &Runner, words: &[&'w str]) -> Option<&'w str> {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word == "--" || runner.target.contains(&word) {
            return words.next();
        }
        if !word.starts_with('-') || word == "-" {
            return Some(word);
        }
        let takes_next = !word.contains('=')
            && match runner.others {
                Others::Alone => runner.valued.contains(&word),
                Others::TakeAValue => !stands_alone(runner, word),
            };
        if takes_next {
            words.next();
        }
    }
    None
}

/// Whether an option takes no value; `-it` is `-i` and `-t`.
fn stands_alone(runner: &Runner, word: &str) -> bool {
    if word.starts_with("--") {
        return runner.alone.contains(&word);
    }
    word.chars().skip(1).all(|letter| runner.alone.contains(&format!("-{letter}").as_str()))
}

/// The plain name in a package, path, image or address.
fn plain_name(target: &str) -> String {
    let address = target.split(['?', '#']).next().unwrap_or_default();
    let mut parts = address.split(['/', '\\']).rev().filter(|part| !part.is_empty() && *part != "." && *part != "..");
    let mut first = None;
    // `github/dist/index.js` is `github`: a folder up for each word that names nothing.
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
    // `npm:`, `jsr:`, `github:` stand before the name, a tag after it.
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
    let plain: String = stem.chars().map(|c| if is_plain(c) { c } else { '-' }).take(LONGEST).collect();
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

//! Which well-known package a command line runs, where that is certain enough to look up its reviewed identities.
//!
//! Reviewed identities hold for exactly the reviewed definitions, so a forged name gives an attacker little: whoever
//! can put other code under this name (in `node_modules`, on Python's path or in an image) and repeat a reviewed
//! definition word for word already runs code here at every start, without any call. But a package must not borrow the
//! list of another that the command line does not run: so with any option that is not known to be harmless, the package
//! is not certain.

use super::{images, is_plain};

/// `npm:NAME` or `pypi:NAME`, without version.
pub(super) fn package(words: &[&str]) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let runner = program.rsplit('/').next().unwrap_or_default();
    let (package, rest): (fn(&str) -> Option<String>, _) = match (runner, rest.first().copied().unwrap_or_default()) {
        ("npx" | "bunx" | "pnpx", _) => (npm, rest),
        ("npm", "exec" | "x") | ("pnpm" | "yarn", "dlx") | ("bun", "x") => (npm, &rest[1..]),
        ("uvx", _) => (pypi, rest),
        ("pipx", "run") => (pypi, &rest[1..]),
        ("uv", "tool") if rest.get(1) == Some(&"run") => (pypi, &rest[2..]),
        ("deno", "run") => return deno(&rest[1..]),
        ("docker" | "podman", "run") => return images::package(&rest[1..]).map(str::to_owned),
        ("node" | "bun", _) => return installed(rest.first()?),
        (python, _) if super::runner::is_python(python) => return module(rest),
        _ => return None,
    };
    package(rest.iter().find(|word| !matches!(**word, "-y" | "--yes" | "-q" | "--quiet" | "--"))?)
}

/// `deno run -A npm:@scope/name@version`: permissions do not change what is run.
fn deno(words: &[&str]) -> Option<String> {
    let harmless = |word: &str| {
        matches!(word, "-A" | "-q" | "--quiet" | "--no-prompt")
            || word.starts_with("--allow-")
            || word.starts_with("--deny-")
    };
    npm(words.iter().find(|word| !harmless(word))?.strip_prefix("npm:")?)
}

/// `PLACE/node_modules/@scope/name/dist/index.js`: the innermost package of a path.
fn installed(path: &str) -> Option<String> {
    let (place, inside) = path.rsplit_once("node_modules/")?;
    let mut parts = inside.split('/');
    let first = parts.next()?;
    let name = if first.starts_with('@') { format!("{first}/{}", parts.next()?) } else { first.to_owned() };
    let climbs = path.split('/').any(|part| part == "..");
    let whole =
        (place.is_empty() || place.ends_with('/')) && !climbs && parts.next().is_some() && !name[1..].contains('@');
    npm(&name).filter(|_| whole)
}

/// `python -m mcp_server_git`: by convention a server's module has its package's name.
fn module(words: &[&str]) -> Option<String> {
    let rest = words.iter().position(|word| !matches!(*word, "-u" | "-I" | "-E" | "-s" | "-P" | "-B" | "-O"))?;
    match &words[rest..] {
        ["-m", module, ..] if module.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => pypi(module),
        _ => None,
    }
}

/// `@scope/name@version`; a path, an address or an alias is no package of the registry.
fn npm(spec: &str) -> Option<String> {
    let at = spec.get(1..)?.find('@').map(|at| at + 1);
    let (name, version) = at.map_or((spec, ""), |at| (&spec[..at], &spec[at + 1..]));
    let part = |part: &str| !part.is_empty() && part.chars().all(is_plain) && !part.starts_with(['.', '-']);
    let is_name = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| part(scope) && part(name)),
        None => part(name),
    };
    (is_name && version.chars().all(|c| is_plain(c) || matches!(c, '^' | '~'))).then(|| format!("npm:{name}"))
}

/// `name==version` or `name@version`, in the registry's own spelling.
fn pypi(spec: &str) -> Option<String> {
    let end = spec.find(['=', '@', '>', '<', '~', '!']).unwrap_or(spec.len());
    let (name, version) = spec.split_at(end);
    let is_name = !name.is_empty() && name.chars().all(is_plain) && !name.starts_with(['.', '-']);
    let is_version = version.chars().all(|c| is_plain(c) || matches!(c, '=' | '@' | '>' | '<' | '~' | '!' | ','));
    (is_name && is_version).then(|| format!("pypi:{}", name.to_ascii_lowercase().replace(['_', '.'], "-")))
}

#[cfg(test)]
mod tests {
    use super::package;

    #[test]
    fn packages() {
        for (command, found) in [
            (
                "npx -y @modelcontextprotocol/server-filesystem /tmp",
                Some("npm:@modelcontextprotocol/server-filesystem"),
            ),
            ("npx @modelcontextprotocol/server-memory@2026.1.1", Some("npm:@modelcontextprotocol/server-memory")),
            ("/usr/bin/npx --yes tavily-mcp@latest", Some("npm:tavily-mcp")),
            ("bunx mcp-ripgrep", Some("npm:mcp-ripgrep")),
            ("pnpm dlx mcp-ripgrep", Some("npm:mcp-ripgrep")),
            ("uvx mcp-server-git --repository /r", Some("pypi:mcp-server-git")),
            ("uvx Mcp_Server.Git==1.0", Some("pypi:mcp-server-git")),
            ("uv tool run mcp-server-git@latest", Some("pypi:mcp-server-git")),
            ("pipx run mcp-server-time", Some("pypi:mcp-server-time")),
            ("npx --registry http://x @modelcontextprotocol/server-memory", None),
            ("npx -p evil server-memory", None),
            ("npx ./server-memory", None),
            ("npx github:a/server-memory", None),
            ("npx server-memory@npm:evil", None),
            ("npx @modelcontextprotocol/server-memory@file:evil", None),
            ("uvx --from evil mcp-server-git", None),
            ("uvx --index-url http://x mcp-server-git", None),
            ("uvx git+https://x/mcp-server-git", None),
            ("uvx mcp-server-git@https://x", None),
            ("npm exec -y -- mcp-ripgrep", Some("npm:mcp-ripgrep")),
            ("npm exec --package evil -- mcp-ripgrep", None),
            ("deno run -A --allow-net=x npm:@scope/mcp-weather@1.2 --verbose", Some("npm:@scope/mcp-weather")),
            ("deno run --import-map=x npm:mcp-ripgrep", None),
            ("deno run -A https://x/mcp-ripgrep", None),
            (
                "node /srv/node_modules/@modelcontextprotocol/server-memory/dist/index.js x",
                Some("npm:@modelcontextprotocol/server-memory"),
            ),
            ("node node_modules/tavily-mcp/build/index.js", Some("npm:tavily-mcp")),
            ("node a/node_modules/evil/node_modules/tavily-mcp/index.js", Some("npm:tavily-mcp")),
            ("node a/node_modules/tavily-mcp/node_modules/evil/index.js", Some("npm:evil")),
            ("node node_modules/tavily-mcp/../evil/index.js", None),
            ("node my_node_modules/tavily-mcp/index.js", None),
            ("node node_modules/tavily-mcp", None),
            ("node --require ./evil.js node_modules/tavily-mcp/index.js", None),
            ("node mcp-server-git", None),
            ("python -m mcp_server_git", Some("pypi:mcp-server-git")),
            ("/usr/bin/python3.12 -u -m mcp_server_git --repository /r", Some("pypi:mcp-server-git")),
            ("python -m mcp_server_git.evil", None),
            ("python -X importtime -m mcp_server_git", None),
            ("python mcp_server_git", None),
            ("docker run -i --rm mcp/filesystem /projects", Some("npm:@modelcontextprotocol/server-filesystem")),
            ("npx", None),
            ("npx -y", None),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(package(&words).as_deref(), found, "{command}");
        }
    }
}

//! Which package of a public registry a command line runs, where that is certain. A guess would lend a stranger the
//! reviewed identities of a well-known server, so any option that is not known to be harmless means: not certain.

/// `npm:NAME` or `pypi:NAME`, without version.
pub(super) fn package(words: &[&str]) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let runner = program.rsplit('/').next().unwrap_or_default();
    let (registry, rest) = match (runner, rest.first().copied().unwrap_or_default()) {
        ("npx" | "bunx" | "pnpx", _) => (Registry::Npm, rest),
        ("pnpm" | "yarn", "dlx") | ("bun", "x") => (Registry::Npm, &rest[1..]),
        ("uvx", _) => (Registry::Pypi, rest),
        ("pipx", "run") => (Registry::Pypi, &rest[1..]),
        ("uv", "tool") if rest.get(1) == Some(&"run") => (Registry::Pypi, &rest[2..]),
        _ => return None,
    };
    let spec = rest.iter().find(|word| !matches!(**word, "-y" | "--yes" | "-q" | "--quiet"))?;
    match registry {
        Registry::Npm => npm(spec),
        Registry::Pypi => pypi(spec),
    }
}

enum Registry {
    Npm,
    Pypi,
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

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
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
            ("node mcp-server-git", None),
            ("python -m mcp_server_git", None),
            ("npx", None),
            ("npx -y", None),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(package(&words).as_deref(), found, "{command}");
        }
    }
}

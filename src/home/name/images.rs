//! The images that are built from packages with reviewed identities, and the options of `docker run` that do not change
//! what an image runs. Owns no registry: a name without a host is the default registry's.

/// Images of the publisher that builds well-known servers from source, and the packages that they are built from.
const IMAGES: &[(&str, &str)] = &[
    ("mcp/brave-search", "npm:@modelcontextprotocol/server-brave-search"),
    ("mcp/everart", "npm:@modelcontextprotocol/server-everart"),
    ("mcp/everything", "npm:@modelcontextprotocol/server-everything"),
    ("mcp/filesystem", "npm:@modelcontextprotocol/server-filesystem"),
    ("mcp/git", "pypi:mcp-server-git"),
    ("mcp/github", "npm:@modelcontextprotocol/server-github"),
    ("mcp/google-maps", "npm:@modelcontextprotocol/server-google-maps"),
    ("mcp/memory", "npm:@modelcontextprotocol/server-memory"),
    ("mcp/postgres", "npm:@modelcontextprotocol/server-postgres"),
    ("mcp/sentry", "pypi:mcp-server-sentry"),
    ("mcp/sequentialthinking", "npm:@modelcontextprotocol/server-sequential-thinking"),
    ("mcp/slack", "npm:@modelcontextprotocol/server-slack"),
    ("mcp/sqlite", "pypi:mcp-server-sqlite"),
];

/// Folders of an image that hold data and no program.
const DATA: &[&str] = &["/projects", "/workspace", "/workspaces", "/data", "/mnt", "/repo", "/repos", "/mcp"];

/// The package that the words after `docker run` run.
pub(super) fn package(words: &[&str]) -> Option<&'static str> {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            let image = word.strip_prefix("docker.io/").unwrap_or(word);
            let name = image.split([':', '@']).next().unwrap_or_default();
            return IMAGES.iter().find(|(known, _)| *known == name).map(|(_, package)| *package);
        }
        let (option, joined) = word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
        let harmless = match option {
            "-i" | "-t" | "-it" | "-ti" | "--interactive" | "--tty" | "--rm" | "--init" | "--read-only" => {
                joined.is_none()
            }
            "-e" | "--env" => is_setting(joined.or_else(|| words.next())?),
            "-v" | "--volume" => is_data(volume(joined.or_else(|| words.next())?)),
            "--mount" => is_data(mount(joined.or_else(|| words.next())?)),
            "--name" | "--network" | "--net" | "-m" | "--memory" | "--cpus" | "-l" | "--label" => {
                joined.or_else(|| words.next()).is_some()
            }
            _ => false,
        };
        if !harmless {
            return None;
        }
    }
    None
}

/// Whether a variable is only a setting of the server: those of loaders and interpreters can load other code.
fn is_setting(variable: &str) -> bool {
    let name = variable.split('=').next().unwrap_or_default().to_ascii_uppercase();
    !name.is_empty()
        && !["LD_", "NODE_", "PYTHON", "PATH", "BASH", "ENV", "NPM_", "UV_", "PIP_"]
            .iter()
            .any(|of| name.starts_with(of))
}

/// Where in the image a volume `HERE:THERE[:OPTIONS]` is.
fn volume(volume: &str) -> Option<&str> {
    volume.split(':').nth(1)
}

/// The same for `type=bind,src=HERE,dst=THERE`.
fn mount(mount: &str) -> Option<&str> {
    let mut pairs = mount.split(',').filter_map(|pair| pair.split_once('='));
    let mut places = pairs.by_ref().filter(|(key, _)| matches!(*key, "dst" | "target" | "destination"));
    let (_, place) = places.next()?;
    // If the place is named twice, it is unclear which counts.
    if places.next().is_some() { None } else { Some(place) }
}

fn is_data(place: Option<&str>) -> bool {
    let below =
        |place: &str, data: &str| place.strip_prefix(data).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    place.is_some_and(|place| !place.contains("..") && DATA.iter().any(|data| below(place, data)))
}

#[cfg(test)]
mod tests {
    use super::package;

    #[test]
    fn images() {
        let (files, git) = (Some("npm:@modelcontextprotocol/server-filesystem"), Some("pypi:mcp-server-git"));
        for (command, found) in [
            ("-i --rm mcp/filesystem /projects", files),
            ("-i --rm --mount type=bind,src=/home/a,dst=/projects/a mcp/filesystem:latest /projects", files),
            ("-it --rm -v /home/a:/projects:ro -e A=b docker.io/mcp/filesystem@sha256:abc /projects", files),
            ("--rm -i --name git --env TOKEN -v=/r:/repo mcp/git", git),
            ("-i --rm evil.example/mcp/filesystem", None),
            ("-i --rm localhost:5000/mcp/filesystem", None),
            ("-i --rm evil/filesystem", None),
            ("-i --rm --entrypoint sh mcp/filesystem -c evil", None),
            ("-i --rm -v /evil:/app mcp/filesystem", None),
            ("-i --rm -v /evil:/projects/../app mcp/filesystem", None),
            ("-i --rm -v /app mcp/filesystem", None),
            ("-i --rm --mount type=bind,src=/e,dst=/projects,target=/app mcp/filesystem", None),
            ("-i --rm -e NODE_OPTIONS=--require=/projects/evil.js mcp/filesystem", None),
            ("-i --rm -e ld_preload=x mcp/filesystem", None),
            ("-i --rm --env-file evil mcp/filesystem", None),
            ("-i --rm --platform x mcp/filesystem", None),
            ("-i --rm", None),
            ("-e", None),
            ("", None),
        ] {
            let words: Vec<&str> = command.split_whitespace().collect();
            assert_eq!(package(&words), found, "{command}");
        }
    }
}

//! Which well-known package a command line runs, where that is certain enough to look up its reviewed identities.
//!
//! Reviewed identities hold for exactly the reviewed definitions, so a forged name gives an attacker little: whoever puts other code
//! under it and repeats a definition word for word already runs code here without any call. But a package must not borrow the list of
//! another: so with any option that is not known to be harmless, the package is not certain.

use super::is_plain;
use super::{KNOWN, is_python};

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
        ("docker" | "podman", "run") => return of_image(&rest[1..]),
        ("node" | "bun", _) => return installed(rest.first()?),
        (python, _) if is_python(python) => return module(rest),
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

/// Folders of an image that hold data and no program.
const DATA: &[&str] = &["/projects", "/workspace", "/workspaces", "/data", "/mnt", "/repo", "/repos", "/mcp"];

/// The package that the words after `docker run` run.
fn of_image(words: &[&str]) -> Option<String> {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            let image = word.strip_prefix("docker.io/").unwrap_or(word);
            let name = image.split([':', '@']).next().unwrap_or_default();
            return KNOWN.images.get(name).cloned();
        }
        let (option, joined) = word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
        let harmless = match option {
            "-i" | "-t" | "-it" | "-ti" | "--interactive" | "--tty" | "--rm" | "--init" | "--read-only" => {
                joined.is_none()
            }
            "-e" | "--env" => is_setting(joined.or_else(|| words.next())?),
            "-v" | "--volume" => is_data(joined.or_else(|| words.next())?.split(':').nth(1)),
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

/// Where in the image a mount `type=bind,src=HERE,dst=THERE` is.
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

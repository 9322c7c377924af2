//! Reads the project as text and holds it to its own rules: layers, doors, sizes, names, threats, keys, dependencies.

mod cycles;
mod readme;
mod route;
mod seeds;
mod words;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each layer and the layers it may name. An arrow up wants an event or an effect instead.
const LAYERS: [(&str, &[&str]); 18] = [
    ("wire", &[]),
    ("signing", &["wire"]),
    ("mcp", &["wire"]),
    ("capability", &["wire", "mcp"]),
    ("behavior", &["wire", "mcp", "capability"]),
    ("policy", &["wire", "signing", "mcp", "capability", "behavior"]),
    // A record says what its verdict is worth.
    ("audit", &["wire", "signing", "behavior", "policy"]),
    ("gate", &["wire", "signing", "mcp", "capability", "behavior", "policy", "audit"]),
    ("pins", &["wire", "mcp", "capability", "behavior", "policy", "audit", "gate"]),
    ("home", &["wire", "signing", "mcp", "capability", "behavior", "policy", "audit", "gate", "pins"]),
    ("link", &["wire", "signing", "mcp", "capability", "behavior", "policy", "audit", "gate"]),
    ("text", &["wire"]),
    (
        "operator",
        &[
            "wire", "signing", "mcp", "capability", "behavior", "policy", "audit", "gate", "pins", "home", "hosts",
            "link", "text",
        ],
    ),
    (
        "console",
        &[
            "wire", "mcp", "capability", "behavior", "policy", "audit", "gate", "pins", "home", "hosts", "link",
            "text", "operator", "desk",
        ],
    ),
    (
        "interpose",
        &["wire", "signing", "mcp", "capability", "behavior", "policy", "audit", "gate", "pins", "home", "link"],
    ),
    ("hosts", &["wire", "home"]),
    // In no wrapper's process: `interpose` may not name it.
    ("desk", &["wire", "signing", "behavior", "policy", "audit", "gate", "pins", "home", "link", "text", "operator"]),
    (
        "cli",
        &[
            "wire", "signing", "mcp", "capability", "behavior", "policy", "audit", "gate", "link", "console",
            "interpose", "pins", "home", "hosts", "text", "operator", "desk",
        ],
    ),
];

/// Files that ask the world nothing: no runtime, no file, no clock, no environment, no thread, no terminal, no database.
const PURE: [&str; 30] = [
    "wire/", "signing/", "mcp/", "capability/", "behavior/", "policy/", "gate/", "audit/record.rs", "audit/chain.rs",
    "audit/body.rs", "audit/redact.rs", "audit/fields.rs", "audit/moment.rs", "audit/numbers.rs", "audit/search.rs",
    "audit/tally.rs", "link/message.rs", "console/card", "console/model", "console/update", "console/view",
    "console/pages", "console/palette.rs", "console/panel.rs", "console/maker.rs", "console/risk.rs",
    "console/rows.rs", "text/", "operator/found.rs", "operator/pinned.rs",
];
const WORLDLY: [&str; 14] = [
    "tokio", "std::fs", "std::net", "std::env", "std::thread", "std::process", "SystemTime", "Instant", "rusqlite",
    "crossterm", "rustix", "libc::", "RefCell", "Mutex",
];

/// Crates and calls with one door each.
const DOORS: [(&str, &[&str]); 10] = [
    ("use ring", &["signing/sshsig.rs"]),
    ("sha2", &["wire/digest.rs"]),
    ("jsonschema", &["capability/schema.rs"]),
    ("rusqlite", &["audit/store", "pins/", "cli/demo/tools.rs"]),
    ("tokio_postgres", &["desk/"]),
    ("unicode_security", &["behavior/hazards/lookalike.rs"]),
    ("SystemTime", &["interpose/clock.rs"]),
    ("Receipt::new", &["audit/"]),
    ("GuardrailToken::mint", &["gate/call/forward.rs"]),
    ("forkpty", &[]),
];

/// How many packages the lock file may name. Raise it with a reason in the same commit.
/// Last raised by 37, for the desk: tokio-postgres and TLS for it, with a connector of our own.
const LOCK_CEILING: usize = 327;

const NO_NAMES: [&str; 5] = ["utils", "helpers", "common", "manager", "types_common"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            found.extend(files(&entry));
        } else if entry.extension().is_some_and(|ext| ext == "rs") {
            found.push(entry);
        }
    }
    found.sort();
    found
}

/// Every source file: its path below `src/`, its text.
fn sources() -> Vec<(String, String)> {
    let src = root().join("src");
    files(&src)
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&src).expect("below src").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("readable"))
        })
        .collect()
}

/// The code of a file: no comments, no tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn check(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn every_file_says_what_it_owns_and_stays_short() {
    let mut complaints = Vec::new();
    for (name, text) in sources() {
        if !text.starts_with("//! ") {
            complaints.push(format!("{name} does not open with a //! sentence"));
        }
        let lines = text.lines().count();
        if lines > 600 {
            complaints.push(format!("{name} has {lines} lines; at most 600"));
        }
        let stem = Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if NO_NAMES.contains(&stem.as_str()) {
            complaints.push(format!("{name}: that name says nothing"));
        }
    }
    check(&complaints);
}

#[test]
fn arrows_point_down() {
    let mut complaints = Vec::new();
    for (name, text) in sources() {
        let Some((layer, allowed)) = LAYERS.iter().find(|(layer, _)| name.starts_with(&format!("{layer}/"))) else {
            continue;
        };
        let code = code(&text);
        for (other, _) in LAYERS {
            if other != *layer && !allowed.contains(&other) && code.contains(&format!("crate::{other}")) {
                complaints.push(format!("{name} names {other}, which stands above {layer}"));
            }
        }
    }
    check(&complaints);
}

#[test]
fn pure_files_ask_the_world_nothing() {
    let mut complaints = Vec::new();
    for (name, text) in sources() {
        if !PURE.iter().any(|pure| name.starts_with(pure)) {
            continue;
        }
        let code = code(&text);
        for word in WORLDLY {
            if code.contains(word) {
                complaints.push(format!("{name} is pure, and names {word}"));
            }
        }
    }
    check(&complaints);
}

#[test]
fn each_door_is_the_only_one() {
    let mut complaints = Vec::new();
    for (name, text) in sources() {
        let code = code(&text);
        for (word, doors) in DOORS {
            let used = code.contains(&format!("{word}::"))
                || code.contains(&format!("{word};"))
                || code.contains(&format!("{word}("));
            if used && !doors.iter().any(|door| name.starts_with(door)) {
                complaints.push(format!("{name} uses {word}; its door is {doors:?}"));
            }
        }
        if code.contains("rehearsal::") {
            complaints.push(format!("{name} uses the rehearsal, which is for tests"));
        }
    }
    check(&complaints);
}

/// A file or folder of `tests/` is a target of its own, or a module of one; else it never runs.
#[test]
fn every_test_file_is_declared() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    let is_target = |name: &str| {
        manifest.contains(&format!("\"tests/{name}.rs\"")) || manifest.contains(&format!("\"tests/{name}/main.rs\""))
    };
    let targets: String =
        files(&root().join("tests")).iter().map(|path| fs::read_to_string(path).expect("readable")).collect();
    let mut complaints = Vec::new();
    for path in files(&root().join("tests")) {
        let below = path.strip_prefix(root().join("tests")).expect("below tests");
        // A package of its own says itself what it is made of.
        if path.ancestors().take_while(|folder| *folder != root()).any(|folder| folder.join("Cargo.toml").is_file()) {
            continue;
        }
        let stem = below.file_stem().expect("a name").to_string_lossy().into_owned();
        let whole = below.to_string_lossy().into_owned();
        let name = match stem.as_str() {
            "mod" | "main" => below.parent().expect("a folder").to_string_lossy().into_owned(),
            _ => stem,
        };
        let word = name.rsplit('/').next().unwrap_or_default();
        let declared = is_target(&name)
            || manifest.contains(&format!("\"tests/{whole}\""))
            || targets.contains(&format!("mod {word};"))
            // A program that a test compiles.
            || whole.starts_with("fixtures/") && targets.contains(&format!("\"tests/{whole}\""));
        if !declared {
            complaints.push(format!("tests/{whole} is no target and no module, so it never runs"));
        }
    }
    check(&complaints);
}

/// Threats that are known and not answered yet: they have no row, and what they wait for. A row that comes takes its name out.
const LATER: [(&str, &str); 1] = [("F24", "a sandboxed twin of the server, which refuses writes")];

/// The ids that open the table in tests/attacks.rs.
fn threats() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("tests/attacks.rs")).expect("the attacks");
    text.lines()
        .filter_map(|line| line.strip_prefix("//! | "))
        .filter_map(|row| row.split(' ').next())
        .filter(|id| {
            id.len() >= 2
                && id.starts_with(|c: char| c.is_ascii_uppercase())
                && id[1..].chars().all(|c| c.is_ascii_digit())
        })
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_threat_has_its_test_and_every_attack_its_threat() {
    let mut complaints = Vec::new();
    let tests: String =
        files(&root().join("tests")).iter().map(|path| fs::read_to_string(path).expect("readable")).collect();
    let threats = threats();
    assert!(threats.len() > 30, "the threat table is gone");
    for (id, _) in LATER.iter().filter(|(id, _)| threats.contains(*id)) {
        complaints.push(format!("threat {id} has its row: it no longer waits for a later step"));
    }
    for id in &threats {
        if !tests.contains(&format!("fn {}_", id.to_lowercase())) {
            complaints.push(format!("threat {id} has no test named {}_…", id.to_lowercase()));
        }
    }
    for path in files(&root().join("tests/attacks")) {
        let text = fs::read_to_string(&path).expect("readable");
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("fn ")) {
            let id = line.split('_').next().unwrap_or_default().to_uppercase();
            let is_id = id.len() >= 2
                && id.starts_with(['A', 'B', 'C', 'D', 'E', 'F', 'G'])
                && id[1..].chars().all(|c| c.is_ascii_digit());
            if is_id && !threats.contains(&id) {
                complaints.push(format!("{}: {id} is not in the threat table", path.display()));
            }
        }
    }
    check(&complaints);
}

/// A file that no topic includes is never read; a README that grows takes the reference back from `help`.
#[test]
fn the_reference_is_in_the_help_topics() {
    for entry in fs::read_dir(root().join("assets/help")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("readable");
        assert!(text.starts_with(&format!("# {name}: ")), "{name} opens with its name and one line on it");
        assert!(mcp_approve::cli::help::topic(&name).is_some(), "{name} is no topic of src/cli/help.rs");
    }
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md").lines().count();
    assert!(readme <= 260, "the README has {readme} lines; what is looked up belongs to assets/help/");
}

#[test]
fn dependencies_do_not_creep() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock");
    let packages = lock.matches("[[package]]").count();
    assert!(packages <= LOCK_CEILING, "{packages} packages in the lock file; the ceiling is {LOCK_CEILING}");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    let normal = manifest.split("[dependencies]").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or_default();
    let mut reason = "";
    for line in normal.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with('#') {
            reason = line;
        } else {
            assert!(!reason.is_empty(), "no reason stands above `{line}`");
        }
    }
}

//! The libraries that the tests were compiled with, for programs that a test compiles.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Options of `rustc` that make these crates known to a program, as the test of that name was compiled with them.
pub fn libraries(test: &str, names: &[&str]) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["test", "--no-run", "--offline", "--quiet", "--test", test, "--message-format", "json"]);
    // What cargo tells a test of its package: build scripts look at it, and with another all would be built again, under the tests
    // that run.
    let of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    let told = std::env::vars_os().map(|(name, _)| name).filter(|name| of_package(&name.to_string_lossy()));
    for name in told {
        command.env_remove(name);
    }
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let made: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let library = |name: &&str| {
        let one = made.iter().find(|one| one["reason"] == "compiler-artifact" && one["target"]["name"] == *name);
        let files = one.and_then(|one| one["filenames"].as_array()).into_iter().flatten().filter_map(Value::as_str);
        let file = files.into_iter().find(|file| file.ends_with(".rlib"));
        let file = file.unwrap_or_else(|| panic!("no {name}: {}", String::from_utf8_lossy(&output.stderr)));
        let folder = PathBuf::from(file).parent().unwrap().display().to_string();
        ["--extern".into(), format!("{name}={file}"), "-L".into(), format!("dependency={folder}")]
    };
    names.iter().flat_map(library).collect()
}

/// The compiler, with the edition that generated code is for.
pub fn rustc() -> Command {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024"]);
    rustc
}

//! Generated Rust against Rust's own compiler and serde.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use mcp_approve::capability::codegen::CodeLanguage;
use serde_json::Value;

#[path = "../capability/manifests.rs"]
mod manifests;

use manifests::{Manifest, odd, real};

/// The libraries that this very test was compiled with, as `--extern` takes them.
fn libraries() -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["test", "--no-run", "--offline", "--quiet", "--test", "real", "--message-format", "json"]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let made: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let library = |name: &str| {
        let one = made.iter().find(|one| one["reason"] == "compiler-artifact" && one["target"]["name"] == name);
        let files = one.and_then(|one| one["filenames"].as_array()).into_iter().flatten().filter_map(Value::as_str);
        let file = files.into_iter().find(|file| file.ends_with(".rlib"));
        let file = file.unwrap_or_else(|| panic!("no {name}: {}", String::from_utf8_lossy(&output.stderr)));
        (format!("{name}={file}"), PathBuf::from(file).parent().unwrap().display().to_string())
    };
    let mut arguments = Vec::new();
    for (library, folder) in ["serde", "serde_json", "thiserror", "mcp_approve"].map(library) {
        arguments.extend(["--extern".into(), library, "-L".into(), format!("dependency={folder}")]);
    }
    arguments
}

#[test]
#[ignore = "compiles for half a minute; `.ci/run full` runs it"]
fn what_is_generated_in_rust_compiles_against_serde() {
    let folder = tempfile::tempdir().unwrap();
    let mut root = String::from("#![allow(dead_code)]\n");
    let manifests: Vec<Manifest> = real().into_iter().chain(odd()).collect();
    for (at, manifest) in manifests.iter().enumerate() {
        fs::write(folder.path().join(format!("server{at}.rs")), manifest.code(CodeLanguage::Rust)).unwrap();
        root.push_str(&format!("pub mod server{at};\n"));
    }
    let file = folder.path().join("lib.rs");
    fs::write(&file, root).unwrap();
    let libraries = libraries();
    let begun = Instant::now();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "-A", "warnings"])
        .args(libraries)
        .arg("--out-dir")
        .arg(folder.path())
        .arg(&file)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let first: String = errors.lines().take(60).fold(String::new(), |text, line| text + line + "\n");
    assert!(output.status.success(), "{first}");
    println!("{} manifests compiled in {:.1} s", manifests.len(), begun.elapsed().as_secs_f64());
}

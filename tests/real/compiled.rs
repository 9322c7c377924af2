//! Generated Rust against Rust's own compiler and serde.

use std::fs;
use std::time::Instant;

use mcp_approve::capability::codegen::CodeLanguage;

#[path = "../fake/libraries.rs"]
mod libraries;
#[path = "../capability/manifests.rs"]
mod manifests;

use libraries::{libraries, rustc};
use manifests::{Manifest, odd, real};

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
    let libraries = libraries("real", &["serde", "serde_json", "thiserror", "mcp_approve"]);
    let begun = Instant::now();
    let output = rustc()
        .args(["--crate-type", "lib", "--emit", "metadata", "-D", "warnings"])
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

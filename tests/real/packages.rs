//! The packages for npm and PyPI, installed from local files as a stranger would, on a PATH without Rust.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

const BINARY: &str = env!("CARGO_BIN_EXE_mcp-approve");

/// Makes one package; gives its file.
fn pack(kind: &str, out: &Path, binary: bool) -> String {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/packaging/pack"));
    command.arg(kind).arg(out);
    if binary {
        command.args(["--binary", BINARY]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A program as somebody without Rust runs it: a home of its own, the system's programs and node.
fn stranger(home: &Path, program: &Path) -> Command {
    let found = Command::new("sh").args(["-c", "command -v node"]).output().unwrap();
    let node = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim());
    let mut command = Command::new(program);
    command.env_clear().env("HOME", home).env("npm_config_cache", home.join("npm")).current_dir(home);
    command.env("PATH", format!("{}:/usr/bin:/bin", node.parent().unwrap().display()));
    command
}

/// Opens the demo at a terminal of its own, says after how long its first call was held, and leaves.
fn demo(command: &Command, name: &str) {
    let begun = Instant::now();
    let mut builder = CommandBuilder::new(command.get_program());
    builder.env_clear();
    builder.env("TERM", "xterm-256color");
    command
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)))
        .for_each(|(name, value)| builder.env(name, value));
    builder.args(command.get_args().chain(["demo".as_ref()]));
    command.get_current_dir().into_iter().for_each(|folder| builder.cwd(folder));
    let pair = native_pty_system().openpty(PtySize { rows: 40, cols: 120, ..PtySize::default() }).unwrap();
    let mut child = pair.slave.spawn_command(builder).unwrap();
    drop(pair.slave);
    let (mut out, mut keys) = (pair.master.try_clone_reader().unwrap(), pair.master.take_writer().unwrap());
    let (mut told, mut piece) = (Vec::new(), [0; 8192]);
    let shows = |told: &[u8], words: &str| told.windows(words.len()).any(|window| window == words.as_bytes());
    let mut typed = 0;
    // A terminal whose program has ended gives an error, or nothing more.
    while let Ok(read @ 1..) = out.read(&mut piece) {
        told.extend_from_slice(&piece[..read]);
        if typed == 0 && shows(&told, "demo-1") {
            println!("{name}: from the command to the first held call: {:.1} s", begun.elapsed().as_secs_f64());
        }
        // The second key answers whether the calls that wait are to be left.
        if (typed == 0 && shows(&told, "demo-1")) || (typed == 1 && shows(&told, "Leave the console?")) {
            keys.write_all(if typed == 0 { b"q" } else { b"y" }).unwrap();
            typed += 1;
        }
    }
    let told = String::from_utf8_lossy(&told);
    assert!(child.wait().unwrap().success(), "{name}: {told}");
    assert!(told.contains("The chain holds"), "{name}: {told}");
}

/// A package has no pictures beside its README: once the manifest says where the repository is, they are shown from there.
#[test]
fn the_readme_of_a_package_shows_the_repositorys_pictures() {
    let has_toml = Command::new("python3").args(["-c", "import tomllib"]).stderr(Stdio::null()).status();
    if !has_toml.is_ok_and(|status| status.success()) {
        println!("SKIPPED: there is no python3 of 3.11 or newer, which packing needs");
        return;
    }
    let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(ours.join("README.md")).unwrap();
    let manifest = std::fs::read_to_string(ours.join("Cargo.toml")).unwrap();
    let lines = || manifest.lines().filter(|line| !line.starts_with("repository"));
    let packed = |repository: &str| {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "assets/packaging/pack", "assets/packaging/npm/launcher.js"]
        {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::copy(ours.join(name), file).unwrap();
        }
        let manifest =
            lines().map(|line| if line == "[package]" { format!("{line}\n{repository}") } else { line.into() });
        std::fs::write(folder.path().join("Cargo.toml"), manifest.collect::<Vec<_>>().join("\n")).unwrap();
        let pack = folder.path().join("assets/packaging/pack");
        let made = Command::new("python3").arg(pack).arg("npm").arg(folder.path()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let file = String::from_utf8(made.stdout).unwrap();
        let shown = Command::new("tar").args(["-xzOf", file.trim(), "package/README.md"]).output().unwrap();
        String::from_utf8(shown.stdout).unwrap()
    };
    assert_eq!(packed(""), readme);
    let shown = packed("repository = \"https://example.org/ada/mcp-approve\"");
    let at = format!("https://example.org/ada/mcp-approve/raw/v{}/assets/", env!("CARGO_PKG_VERSION"));
    assert_eq!(shown.matches(&format!("]({at}")).count(), readme.matches("](assets/").count());
    assert!(!shown.contains("](assets/") && !shown.contains("](.github/") && shown.contains("/blob/v"), "{shown}");
    assert_eq!(shown.lines().count(), readme.lines().count());
}

#[test]
#[ignore = "installs the packages with npm and pip; `.ci/run full` runs it"]
fn the_packages_play_the_demo_without_rust() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let launcher = pack("npm", home, false);
    let platform = pack("npm", home, true);
    let mut npx = stranger(home, Path::new("npx"));
    npx.args(["-y", "--package", &launcher, "--package", &platform, "mcp-approve"]);
    demo(&npx, "npx, nothing cached");
    let mut npx = stranger(home, Path::new("npx"));
    npx.args(["-y", "--package", &launcher, "--package", &platform, "mcp-approve"]);
    demo(&npx, "npx, again");

    let wheel = pack("wheel", home, true);
    let mut venv = stranger(home, Path::new("python3"));
    assert!(venv.args(["-m", "venv", "venv"]).status().unwrap().success());
    let begun = Instant::now();
    let mut pip = stranger(home, &home.join("venv/bin/pip"));
    let pip = pip.args(["install", "--quiet", "--no-index", "--disable-pip-version-check", &wheel]);
    assert!(pip.status().unwrap().success());
    println!("the wheel was installed in {:.1} s", begun.elapsed().as_secs_f64());
    demo(&stranger(home, &home.join("venv/bin/mcp-approve")), "the wheel");
    let mut files = Command::new(home.join("venv/bin/python"));
    let every = "import importlib.metadata as m; assert all(f.locate().is_file() for f in m.files('mcp-approve'))";
    assert!(files.args(["-c", every]).status().unwrap().success(), "RECORD names files that are not there");
}

/// `uvx` and `pipx` take the wheel as they would take it from PyPI. Only where they are installed.
#[test]
#[ignore = "runs the wheel with uvx and pipx; `.ci/run full` runs it"]
fn the_wheel_plays_the_demo_under_uvx_and_pipx() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let wheel = pack("wheel", home, true);
    for (program, arguments) in
        [("uvx", ["--offline", "--from", &wheel, "mcp-approve"]), ("pipx", ["run", "--spec", &wheel, "mcp-approve"])]
    {
        let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        if found.is_empty() {
            println!("SKIPPED: {program} is not on the PATH");
            continue;
        }
        let mut command = stranger(home, Path::new(found.trim()));
        command.args(arguments);
        demo(&command, program);
    }
}

/// Whoever starts the launcher sees what the program itself would have shown: its bytes, its code, its end by a signal.
#[test]
#[ignore = "installs a package with npm; `.ci/run full` runs it"]
fn the_launcher_is_not_in_the_way() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let mut npm = stranger(home, Path::new("npm"));
    npm.args(["install", "--silent", "--no-audit", "--no-fund", &pack("npm", home, false), &pack("npm", home, true)]);
    assert!(npm.status().unwrap().success());
    let launcher = home.join("node_modules/.bin/mcp-approve");
    let wrapped = |script: &str| {
        let mut command = stranger(home, &launcher);
        command.arg("--home").arg(home.join("places")).args(["--", "sh", "-c", script]);
        command
    };
    assert_eq!(wrapped("exit 7").stdin(Stdio::null()).status().unwrap().code(), Some(7));

    let line = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"a\": \"ü\"}}\n";
    let script = "IFS= read -r line; printf '%s\\n' \"$line\"; exec sleep 600";
    let mut child = wrapped(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), line.as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    assert_eq!(answer, line);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut rest = Vec::new();
    // It ends only when every process that had the pipe is gone: launcher, wrapper and server.
    child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
    assert!(child.wait().unwrap().code().is_some(), "the launcher has a code of its own");

    // Without the platform's package it says what is missing.
    std::fs::remove_dir_all(home.join(format!("node_modules/{}", platform_package()))).unwrap();
    let output = wrapped("exit 7").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(127) && told.contains(&platform_package()) && told.contains("hint:"),
        "{told}"
    );
}

fn platform_package() -> String {
    let os = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    format!("mcp-approve-{os}-{}", if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" })
}

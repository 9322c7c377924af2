//! Installs the real servers and clients into `target/real`, once, and knows where they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The agents that `hosts` drives; a gigabyte, so only installed for it.
pub const AGENTS: &str = include_str!("agents.json");

const PINS: [(&str, &str); 12] = [
    ("package.json", include_str!("package.json")),
    ("requirements.txt", include_str!("requirements.txt")),
    ("requirements-legacy.txt", include_str!("requirements-legacy.txt")),
    ("drive.mjs", include_str!("drive.mjs")),
    ("drive.py", include_str!("drive.py")),
    ("bridge.mjs", include_str!("bridge.mjs")),
    ("conform.mjs", include_str!("conform.mjs")),
    ("model.mjs", include_str!("model.mjs")),
    ("serve.mjs", include_str!("serve.mjs")),
    ("serve.py", include_str!("serve.py")),
    ("tee.py", include_str!("tee.py")),
    ("remote.mjs", include_str!("remote.mjs")),
];

/// The official client that drives a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// TypeScript, first line: the handshake era.
    Ts1,
    /// TypeScript, second line: probes with a disposable sibling process, then speaks what the server speaks.
    Ts2,
    /// Python, first line: the handshake era.
    Py1,
    /// Python, second line: probes in place.
    Py2,
    /// Rust, with the handshake.
    Rmcp1,
    /// Rust: probes in place.
    Rmcp2,
}

impl Client {
    /// Its name in a plan.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ts1 => "ts1",
            Self::Ts2 => "ts2",
            Self::Py1 => "py1",
            Self::Py2 => "py2",
            Self::Rmcp1 => "rmcp1",
            Self::Rmcp2 => "rmcp2",
        }
    }
}

/// Where everything was installed.
pub struct Bed {
    root: PathBuf,
}

/// The bed, installed at first use.
pub fn bed() -> &'static Bed {
    static BED: OnceLock<Bed> = OnceLock::new();
    BED.get_or_init(Bed::install)
}

impl Bed {
    fn install() -> Self {
        let target = Path::new(env!("CARGO_BIN_EXE_mcp-approve")).ancestors().nth(2).unwrap();
        let root = target.join("real");
        fs::create_dir_all(&root).unwrap();
        let bed = Self { root };
        let pinned: String = PINS[..3].iter().map(|(_, text)| *text).collect();
        let installed = fs::read_to_string(bed.path("installed")).unwrap_or_default();
        for (name, text) in PINS {
            fs::write(bed.path(name), text).unwrap();
        }
        if installed != pinned {
            println!("installing real servers into {}", bed.root.display());
            install_from_npm(&bed.root);
            for (venv, requirements) in [("venv", "requirements.txt"), ("venv1", "requirements-legacy.txt")] {
                run(Command::new("python3").args(["-m", "venv"]).arg(bed.path(venv)));
                run(Command::new(bed.path(venv).join("bin/pip"))
                    .args(["install", "--quiet", "--disable-pip-version-check", "-r"])
                    .arg(bed.path(requirements)));
            }
            fs::write(bed.path("installed"), pinned).unwrap();
        }
        bed
    }

    /// The agents' programs, installed at first use.
    pub fn agents(&self) -> PathBuf {
        static ONCE: OnceLock<()> = OnceLock::new();
        self.more("agents", AGENTS, &ONCE)
    }

    /// The command of the official conformance suite, installed at first use.
    pub fn suite(&self) -> Command {
        static ONCE: OnceLock<()> = OnceLock::new();
        let programs = self.more("suite", include_str!("suite.json"), &ONCE);
        let mut command = Command::new(programs.join("node"));
        command.arg(programs.join("conformance"));
        command
    }

    /// The command of a server over HTTP that hands everything to `server` on stdio.
    pub fn bridge(&self, server: &[String]) -> Command {
        let mut command = Command::new("node");
        command.arg(self.path("bridge.mjs")).args(server);
        command
    }

    /// Installs `packages` into a folder of their own; where their programs are.
    fn more(&self, name: &str, packages: &str, once: &OnceLock<()>) -> PathBuf {
        let root = self.path(name);
        once.get_or_init(|| {
            fs::create_dir_all(&root).unwrap();
            let installed = fs::read_to_string(root.join("installed")).unwrap_or_default();
            if installed != packages {
                println!("installing into {}", root.display());
                fs::write(root.join("package.json"), packages).unwrap();
                install_from_npm(&root);
                fs::write(root.join("installed"), packages).unwrap();
            }
        });
        root.join("node_modules/.bin")
    }

    /// The command that starts the fake model.
    pub fn model(&self) -> Command {
        let mut command = Command::new("node");
        command.arg(self.path("model.mjs"));
        command
    }

    /// The command of a server from npm.
    pub fn npm(&self, server: &str) -> Vec<String> {
        let script = format!("node_modules/@modelcontextprotocol/{server}/dist/index.js");
        vec!["node".into(), self.text(&script)]
    }

    /// A script of ours, in node.
    pub fn node(&self, script: &str) -> Command {
        let mut command = Command::new("node");
        command.arg(self.path(script));
        command
    }

    /// A program of the stateless era's Python environment.
    pub fn python(&self, program: &str) -> String {
        self.text(&format!("venv/bin/{program}"))
    }

    /// A program of the handshake era's Python environment.
    pub fn legacy_python(&self, program: &str) -> String {
        self.text(&format!("venv1/bin/{program}"))
    }

    /// The client and server on the official Rust SDK, compiled at first use.
    pub fn rmcp(&self) -> String {
        static ONCE: OnceLock<()> = OnceLock::new();
        let target = self.path("rmcp");
        ONCE.get_or_init(|| {
            println!("compiling into {}", target.display());
            let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/rmcp/Cargo.toml");
            run(Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
                .args(["build", "--locked", "--quiet", "--manifest-path"])
                .arg(manifest)
                .arg("--target-dir")
                .arg(&target));
        });
        target.join("debug/small-rmcp").to_str().unwrap().into()
    }

    /// A server on the official Go SDK: a program from npm, which holds one for each platform.
    pub fn go(&self) -> String {
        let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
        let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
        let name = format!("kubernetes-mcp-server-{system}-{processor}");
        self.text(&format!("node_modules/{name}/bin/{name}"))
    }

    /// `command` with every byte on its pipes kept in `records`.
    pub fn recorded(&self, records: &Path, command: &[String]) -> Vec<String> {
        let tee = ["python3".into(), self.text("tee.py"), records.to_str().unwrap().into()];
        [&tee[..], command].concat()
    }

    /// The command that plays a plan with this client.
    pub fn driver(&self, client: Client, plan: &Path) -> Command {
        let (program, script) = match client {
            Client::Ts1 | Client::Ts2 => ("node".into(), self.text("drive.mjs")),
            Client::Py1 => (self.legacy_python("python"), self.text("drive.py")),
            Client::Py2 => (self.python("python"), self.text("drive.py")),
            Client::Rmcp1 | Client::Rmcp2 => (self.rmcp(), "drive".into()),
        };
        let mut command = Command::new(program);
        command.arg(script).arg(plan);
        command
    }

    /// The path of a script of this folder.
    pub fn script(&self, name: &str) -> String {
        self.text(name)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().into()
    }
}

fn install_from_npm(folder: &Path) {
    run(Command::new("npm")
        .args(["install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"])
        .current_dir(folder));
}

/// Runs a command that must succeed.
pub fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|cause| panic!("{command:?}: {cause}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

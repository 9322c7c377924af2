//! The typed interface that is generated for Rust: a program that keeps to it runs, and one that does not is refused by the compiler.

use std::fs;
use std::process::Command;

use super::codegen::file_manager::typed::{
    CallbackRunner, Calls, Grants, GuardrailBlocked, HasCaps, Required, Session, ToolCap, delegate, invoke, safe,
};

#[derive(Debug)]
struct ReadFile;
impl ToolCap for ReadFile {
    type Args = String;
    type Output = usize;
    type Guardrail = Required;
    const NAME: &'static str = "read_file";
}
/// What both agents have.
struct Reading;
impl Grants<ReadFile> for Reading {}
struct Orchestrator;
impl HasCaps<Reading> for Orchestrator {}
#[derive(Debug)]
struct Worker;
impl HasCaps<Reading> for Worker {}
impl Calls<ReadFile> for Worker {
    type Error = ();
    fn call(&self, args: String) -> Result<usize, ()> {
        Ok(args.len())
    }
}

#[test]
fn a_tool_is_called_once_all_three_proofs_are_there() {
    let worker = delegate::<_, _, Reading>(&Orchestrator, &Worker);
    let session = Session::begin().initialized();
    let runner = CallbackRunner::of(&Worker);
    let guardrail = |path: &String| match path.contains("..") {
        true => Err(GuardrailBlocked { reason: "it climbs".to_owned() }),
        false => Ok(()),
    };
    let args = "notes.txt".to_owned();
    let token = runner.run_before_tool::<ReadFile>(&args, guardrail).expect("nothing blocks it");
    assert_eq!(invoke(&worker, args, safe::<ReadFile, Reading, _>(&worker, token, &session)), Ok(9));
    let blocked = runner.run_before_tool::<ReadFile>(&"../x".to_owned(), guardrail).expect_err("it climbs");
    assert_eq!(blocked.to_string(), "the guardrail refused: it climbs");
}

/// What every program below begins with.
const TOOLS: &str = "
use typed::*;
pub struct Delete;
impl ToolCap for Delete {
    type Args = ();
    type Output = ();
    type Guardrail = Required;
    const NAME: &'static str = \"delete\";
}
pub struct Ping;
impl ToolCap for Ping {
    type Args = ();
    type Output = ();
    type Guardrail = NotRequired;
    const NAME: &'static str = \"ping\";
}
pub struct Pinging;
impl Grants<Ping> for Pinging {}
impl HasCaps<Pinging> for () {}
";

#[test]
fn what_a_program_may_not_do_does_not_compile() {
    for (what, program, error) in [
        ("a tool that needs no guardrail is called", "let _ = CallbackRunner::of(&()).unchecked::<Ping>();", None),
        ("who has no set delegates it", "delegate::<_, _, Pinging>(&Delete, &());", Some("E0277")),
        ("a session that is over begins", "Session::begin().close().initialized();", Some("E0599")),
        (
            "a proof is forged",
            "let _: GuardrailToken<Ping, ()> = GuardrailToken(std::marker::PhantomData);",
            Some("E0423"),
        ),
        ("a guardrail is left out", "let _ = CallbackRunner::of(&()).unchecked::<Delete>();", Some("E0271")),
        ("a caller says that no guardrail is needed", "impl NoGuardrailRequired for Delete {}", Some("E0271")),
        (
            "the handshake is missing",
            "let agent = delegate::<_, _, Pinging>(&(), &());
             let token = CallbackRunner::of(&()).unchecked::<Ping>();
             let _ = safe::<Ping, Pinging, ()>(&agent, token, &Session::begin());",
            Some("E0308"),
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program.rs");
        let typed = include_str!("../../assets/typed.rs");
        fs::write(&file, format!("{typed}{TOOLS}pub fn program() {{ {program} }}\n")).unwrap();
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let options = ["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir"];
        let run = Command::new(rustc).args(options).arg(folder.path()).arg(&file).output().expect("the compiler runs");
        let said = String::from_utf8_lossy(&run.stderr);
        let refused = error.map(|error| format!("error[{error}]"));
        assert_eq!(run.status.success(), error.is_none(), "{what}: {said}");
        assert!(refused.is_none_or(|refused| said.contains(&refused)), "{what}: {said}");
    }
}

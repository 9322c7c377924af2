//! The typed interface that is generated for Rust: a program that keeps to it runs, and one that does not is refused by the
//! compiler, with an error that says why.

use std::fs;
use std::sync::Mutex;

use mcp_approve::capability::codegen::CodeLanguage;
use serde_json::{Value, json};

use super::codegen::file_manager::typed::{Agent, BeforeTool, GuardrailBlocked, Only, Session, invoke_tool};
use super::codegen::file_manager::{
    CanReadFile, FileManagerHandlers, McpError, ReadFile, ReadFileArgs, ReadFileSuccess, WriteFileArgs,
    WriteFileSuccess, dispatch,
};
use super::libraries::{libraries, rustc};
use super::manifests::Manifest;

fn waited<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// A server, counting what it was asked to read.
struct Files(Mutex<Vec<String>>);

impl CanReadFile for &Files {
    async fn read_file(&self, args: ReadFileArgs) -> Result<ReadFileSuccess, McpError> {
        self.0.lock().unwrap().push(args.path);
        Ok(ReadFileSuccess { content: "text".into(), size_bytes: None })
    }
}

struct Below(&'static str);

impl BeforeTool<ReadFile> for Below {
    async fn before_tool(&self, args: &ReadFileArgs) -> Result<(), GuardrailBlocked> {
        match args.path.starts_with(self.0) {
            true => Ok(()),
            false => Err(GuardrailBlocked { reason: format!("{} is not below {}", args.path, self.0) }),
        }
    }
}

fn reads(path: &str) -> ReadFileArgs {
    ReadFileArgs { path: path.to_owned(), encoding: None }
}

#[test]
fn a_tool_is_called_once_all_three_proofs_are_there() {
    let [mine, theirs] = [(), ()].map(|()| Files(Mutex::default()));
    let lead = Agent::new(&mine, Below("/a")).narrow::<Only<ReadFile>>();
    let worker = lead.delegate(Agent::new(&theirs, Below("/a/b")));
    let session = Session::begin().initialized();
    waited(async {
        let token = lead.run_before_tool::<ReadFile>(reads("/a/x")).await.expect("it is below");
        assert_eq!(invoke_tool(token, &session).await.map(|read| read.content), Ok("text".into()));
        let blocked =
            worker.run_before_tool::<ReadFile>(reads("/a/x")).await.map(|_| ()).expect_err("its own guardrail");
        assert_eq!(blocked.to_string(), "the guardrail refused: /a/x is not below /a/b");
        let token = worker.run_before_tool::<ReadFile>(reads("/a/b/y")).await.expect("it is below");
        assert!(invoke_tool(token, &session).await.is_ok());
    });
    assert_eq!([mine, theirs].map(|files| files.0.into_inner().unwrap()), [["/a/x"], ["/a/b/y"]]);
}

struct Echo;

impl FileManagerHandlers for Echo {
    type SharedState = ();

    async fn read_file(args: ReadFileArgs, (): ()) -> Result<ReadFileSuccess, McpError> {
        Ok(ReadFileSuccess { content: args.path, size_bytes: None })
    }

    async fn write_file(args: WriteFileArgs, (): ()) -> Result<WriteFileSuccess, McpError> {
        Err(McpError::PermissionDenied(args.path))
    }
}

#[test]
fn a_call_is_dispatched_by_its_name_and_answered_with_the_code_of_its_error() {
    let call = |name: &str, arguments: Value| waited(dispatch::<Echo>(name, Some(arguments), ()));
    assert_eq!(call("readFile", json!({ "path": "x" })), Ok(json!({ "content": "x" })));
    for (name, arguments, code, said) in [
        ("read_file", json!({ "path": "x" }), -32601, "Tool not found: read_file"),
        ("readFile", json!({ "path": 7 }), -32602, "Invalid params: invalid type: number, expected a string"),
        ("readFile", json!({}), -32602, "Invalid params: missing field `path`"),
        ("readFile", json!({ "path": "x", "encoding": "utf9" }), -32602, "unknown variant `utf9`"),
        ("writeFile", json!({ "path": "x", "content": "" }), -32000, "Permission denied: x"),
    ] {
        let error = call(name, arguments).expect_err(said).to_value();
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
    }
    assert_eq!(waited(dispatch::<Echo>("readFile", None, ())).map_err(|error| error.code()), Err(-32602));
}

/// What every program below has before its own lines.
const PROGRAM: &str = "
    use crate::capabilities::typed::*;
    use crate::capabilities::*;

    pub struct Pipe;
    impl CanReadFile for Pipe {
        async fn read_file(&self, _: ReadFileArgs) -> Result<ReadFileSuccess, McpError> { todo!() }
    }
    impl CanPing for Pipe {
        async fn ping(&self, _: PingArgs) -> Result<serde_json::Value, McpError> { todo!() }
    }
    pub struct Mine;
    impl BeforeTool<ReadFile> for Mine {
        async fn before_tool(&self, _: &ReadFileArgs) -> Result<(), GuardrailBlocked> { Ok(()) }
    }
    pub struct Other;
    impl BeforeTool<ReadFile> for Other {
        async fn before_tool(&self, _: &ReadFileArgs) -> Result<(), GuardrailBlocked> { Ok(()) }
    }
    pub fn args() -> ReadFileArgs { ReadFileArgs { path: String::new(), encoding: None } }
    pub fn sends<T: Send>(_: &T) {}
";

const BEGINS: &str = "
    pub async fn program() -> Result<(), GuardrailBlocked> {
        let session = Session::begin().initialized();
        let agent = Agent::new(Pipe, Mine).narrow::<Join<Only<ReadFile>, Only<Ping>>>();
";

/// A program that keeps to all of it; its calls may be made on any thread.
const KEPT: &str = "
    let call = agent.run_before_tool::<ReadFile>(args());
    sends(&call);
    let call = invoke_tool(call.await?, &session);
    sends(&call);
    let _ = (call.await, invoke_tool(agent.unchecked::<Ping>(PingArgs {}), &session).await);";

const RUNS: &str = "
    let token = agent.run_before_tool::<ReadFile>(args()).await?;";

/// What a program does, with an `agent` that has `readFile` and `ping` in an active `session`; the error it must give.
const MISUSE: [(&str, &str, &str); 20] = [
    (
        "a guardrail's token is used twice",
        "RUNS invoke_tool(token, &session).await; invoke_tool(token, &session).await;",
        "E0382",
    ),
    ("it is cloned", "RUNS let _ = token.clone();", "E0599"),
    ("it is forged", "let _ = GuardrailToken::<ReadFile, _> { agent: &agent, args: args() };", "E0451"),
    (
        "a parent's token is taken for its sub-agent's",
        "let child = agent.delegate(Agent::new(Pipe, Other));
         let mut token = child.run_before_tool::<ReadFile>(args()).await?;
         token = agent.run_before_tool::<ReadFile>(args()).await?;",
        "E0308",
    ),
    ("other arguments are put in", "RUNS token.args = args();", "E0616"),
    ("a guardrail is left out", "invoke_tool::<ReadFile, _, _, _>(args(), &session).await;", "E0308"),
    ("none is registered", "agent.run_before_tool::<WriteFile>(todo!()).await?;", "no guardrail for `"),
    ("it is said to be unneeded by a caller", "agent.unchecked::<ReadFile>(args());", "E0271"),
    ("it is declared unneeded by a caller", "impl NoGuardrailRequired for ReadFile {}", "E0271"),
    (
        "a tool is outside the capabilities",
        "let agent = agent.narrow::<Only<Ping>>(); RUNS invoke_tool(token, &session).await;",
        "the agent may not call `",
    ),
    (
        "more is kept than there was",
        "agent.narrow::<Only<WriteFile>>();",
        "the agent does not have all of these capabilities",
    ),
    (
        "more is delegated than there was",
        "agent.delegate(Agent::new(Pipe, Mine)).narrow::<Only<WriteFile>>();",
        "the agent does not have all of these capabilities",
    ),
    ("what was given up is used", "agent.narrow::<Only<Ping>>(); RUNS", "E0382"),
    ("a set grants by the program's own word", "struct Set; impl Grants<WriteFile> for Set {}", "E0277"),
    ("an agent has by the program's own word", "impl HasCaps<All> for Agent<Nothing, Pipe, Mine> {}", "E0277"),
    ("what is sealed is implemented", "impl crate::capabilities::typed::sealed::Holds<Here> for Pipe {}", "E0603"),
    ("the connection is used directly", "agent.connection.read_file(args()).await;", "E0616"),
    (
        "a connection cannot call the tool",
        "let agent = Agent::new((), Mine); RUNS invoke_tool(token, &session).await;",
        "`()` does not implement the trait `Can…`",
    ),
    (
        "the session is closed",
        "RUNS invoke_tool(token, &session.close()).await;",
        "expected `&Session<Active>`, found `&Session<Closed>`",
    ),
    ("it was closed before", "RUNS session.close(); invoke_tool(token, &session).await;", "E0382"),
];

#[test]
fn what_a_program_may_not_do_does_not_compile() {
    let mut manifest: Value = serde_json::from_str(include_str!("../fixtures/lattice/file_manager.json")).unwrap();
    let schema = json!({ "type": "object", "properties": {} });
    let ping = json!({ "name": "ping", "inputSchema": schema, "_meta": { "guardrail": "not_required" } });
    manifest["tools"].as_array_mut().unwrap().push(ping);
    let folder = tempfile::tempdir().unwrap();
    let code = Manifest::of("FileManager", &manifest["tools"]).code(CodeLanguage::Rust);
    fs::write(folder.path().join("capabilities.rs"), code).unwrap();
    let libraries = libraries("tables", &["serde", "serde_json", "thiserror"]);
    // What the compiler says of several programs, each a module of its own.
    let compiled = |programs: &[&str]| {
        let mut root = "#![allow(dead_code)]\npub mod capabilities;\n".to_owned();
        for (at, lines) in programs.iter().enumerate() {
            root += &format!("pub mod program{at};\n");
            let lines = lines.replace("RUNS", RUNS);
            let program = format!("{PROGRAM}{BEGINS}{lines}\nOk(())\n}}\n");
            fs::write(folder.path().join(format!("program{at}.rs")), program).unwrap();
        }
        let file = folder.path().join("root.rs");
        fs::write(&file, root).unwrap();
        let mut rustc = rustc();
        rustc.args(["--crate-type=lib", "--emit=metadata", "--error-format=short", "--out-dir"]).arg(folder.path());
        let run = rustc.args(&libraries).arg(&file).output().expect("the compiler runs");
        (run.status.success(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    assert_eq!(compiled(&[KEPT]), (true, String::new()));
    // What is implemented in one of them counts in all; private fields are looked for where nothing else is wrong.
    let (alone, together): (Vec<_>, Vec<_>) =
        MISUSE.iter().partition(|(_, lines, error)| lines.contains("impl ") || *error == "E0451");
    for rows in alone.chunks(1).chain([&together[..]]) {
        let (compiles, said) = compiled(&rows.iter().map(|(_, lines, _)| *lines).collect::<Vec<_>>());
        assert!(!compiles, "{rows:?}");
        for (at, (what, _, error)) in rows.iter().enumerate() {
            let of_this = said.lines().filter(|line| line.contains(&format!("program{at}.rs:")));
            assert!(of_this.clone().any(|line| line.contains("error") && line.contains(error)), "{what}: {said}");
        }
    }
}

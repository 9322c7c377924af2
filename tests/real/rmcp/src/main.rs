//! The official Rust SDK as a client that plays a plan and as a small server, like drive.mjs and serve.mjs.
//! Usage: small-rmcp drive PLAN.json, with {client: "rmcp1"|"rmcp2", command: [..], steps: [{tool, arguments}]};
//! or small-rmcp serve FOLDER. A plan's limit is left alone: the SDK has none for the requests of a call that comes back.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig, Implementation, ProtocolVersion};
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::transport::{TokioChildProcess, stdio};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ServerHandler, ServiceError, ServiceExt};
use rmcp::{schemars, tool, tool_handler, tool_router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::process::Command;

#[derive(Deserialize)]
struct Plan {
    client: String,
    command: Vec<String>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    tool: String,
    arguments: rmcp::model::JsonObject,
}

struct Client;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.client_info = Implementation::new("real-test", "1");
        config
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["drive", plan] => drive(serde_json::from_slice(&fs::read(plan)?)?).await,
        ["serve", folder] => serve(Notes { folder: folder.into() }).await,
        _ => Err("usage: small-rmcp drive PLAN.json, or small-rmcp serve FOLDER".into()),
    }
}

async fn drive(plan: Plan) -> Result<(), Box<dyn Error>> {
    let (program, arguments) = plan.command.split_first().ok_or("the plan has no command")?;
    let mut command = Command::new(program);
    command.args(arguments);
    let lifecycle = if plan.client == "rmcp1" {
        ClientLifecycleMode::Initialize
    } else {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25];
        ClientLifecycleMode::Auto { preferred_versions, legacy_version: None }
    };
    let client = Client.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?;
    let revision = client.peer_info().map(|server| server.protocol_version.clone());
    let tools = client.list_all_tools().await?.len();
    println!("{}", json!({ "revision": revision, "tools": tools }));
    for Step { tool, arguments } in plan.steps {
        let call = client.call_tool(CallToolRequestParams::new(tool.clone()).with_arguments(arguments));
        println!("{}", answer(&tool, call.await));
    }
    client.cancel().await?;
    Ok(())
}

fn answer(tool: &str, result: Result<CallToolResult, ServiceError>) -> Value {
    match result {
        Ok(result) => {
            let text: Vec<&str> =
                result.content.iter().filter_map(|block| Some(block.as_text()?.text.as_str())).collect();
            json!({ "tool": tool, "error": result.is_error == Some(true), "text": text.join("\n") })
        }
        Err(failure) => json!({ "tool": tool, "thrown": failure.to_string() }),
    }
}

struct Notes {
    folder: PathBuf,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Note {
    name: String,
    text: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Numbers {
    a: f64,
    b: f64,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Sum {
    sum: f64,
}

#[tool_router]
impl Notes {
    #[tool(description = "Reads a note and returns its text.", annotations(read_only_hint = true))]
    fn read_note(&self, Parameters(Name { name }): Parameters<Name>) -> Result<String, String> {
        fs::read_to_string(self.folder.join(name)).map_err(|cause| cause.to_string())
    }

    #[tool(description = "Returns the sum of two numbers.", annotations(read_only_hint = true))]
    fn get_sum(&self, Parameters(Numbers { a, b }): Parameters<Numbers>) -> Json<Sum> {
        Json(Sum { sum: a + b })
    }

    #[tool(description = "Writes a note, replacing what it said.")]
    fn write_note(&self, Parameters(Note { name, text }): Parameters<Note>) -> Result<String, String> {
        fs::write(self.folder.join(name), text).map_err(|cause| cause.to_string())?;
        Ok("written".into())
    }
}

#[tool_handler]
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("small-rmcp", "1"))
    }
}

async fn serve(notes: Notes) -> Result<(), Box<dyn Error>> {
    notes.serve(stdio()).await?.waiting().await?;
    Ok(())
}

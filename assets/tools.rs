
@head
//! The capabilities of the MCP server $server$: argument and result types, one trait a tool.
//! Made by `mcp-approve lattice codegen --lang rust`; generate it again when the server changes.
$notes$#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_overindented_list_items,
    clippy::enum_variant_names,
    clippy::large_enum_variant,
    reason = "names, texts and sizes are the server's"
)]

@can
/// May call `$wire$`.
pub trait Can$pascal$ {
$doc$    fn $method$(&self, args: $args$) -> impl Future<Output = Result<$result$, McpError>> + Send;
}
@caps
/// All that the server can do.
pub trait $server$Caps:$bounds$

impl<T> $server$Caps for T where T: $caps$ {}

/// What the server implements: one handler a tool.
pub trait $server$Handlers {
    /// What the handlers share, such as `Arc<RwLock<ServerState>>`. It is the server's own, and never an argument.
    type SharedState: Clone + Send + Sync;
@handler
$doc$    fn $method$(
        args: $args$,
        state: Self::SharedState,
    ) -> impl Future<Output = Result<$result$, McpError>> + Send;
@dispatch
/// Answers one `tools/call`: reads the arguments, calls the handler of that name, and writes its result.
///
/// `name` and `arguments` are those of the request's `params`; without `arguments` they are an empty object. What returns is the
/// `structuredContent` of the answer, and [`McpError::to_value`] its `error`.
///
/// # Errors
/// [`McpError::ToolNotFound`] for any other name, [`McpError::InvalidParams`] for arguments of another shape, and what the handler
/// fails with.
pub async fn dispatch<H: $server$Handlers>(
    name: &str,
    arguments: Option<serde_json::Value>,
    state: H::SharedState,
) -> Result<serde_json::Value, McpError> {
    let arguments = arguments.unwrap_or_else(|| serde_json::json!({}));
    let result = match name {
$arms$        _ => return Err(McpError::ToolNotFound(name.to_owned())),
    };
    result.map_err(|error| McpError::Internal(error.to_string()))
}
@arm
        $literal$ => serde_json::to_value(H::$method$(from_value(arguments)?, state).await?),
@typed
/// `$wire$`, as a type.
#[derive(Debug)]
pub enum $pascal$ {}

impl typed::sealed::Tool for $pascal$ {
    type Place = $place$;
}

impl typed::ToolCap for $pascal$ {
    type Args = $args$;
    type Output = $result$;
    type Guardrail = typed::$guardrail$;
    const NAME: &'static str = $literal$;
}

impl<S: Can$pascal$> typed::sealed::Calls<$pascal$> for S {
    fn call(&self, args: $args$) -> impl Future<Output = Result<$result$, McpError>> + Send {
        self.$method$(args)
    }
}
@nullable
/// Reads a value that may be null but must be there.
fn nullable<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}
@

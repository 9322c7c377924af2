
[can]
/// May call `$wire$`.
pub trait Can$pascal$ {
$doc$    fn $method$(&self, args: $args$) -> impl Future<Output = Result<$result$, McpError>> + Send;
}
[caps]
/// All that the server can do.
pub trait $server$Caps:$bounds$

impl<T> $server$Caps for T where T: $caps$ {}

/// What the server implements: one handler a tool. The state is the server's own, and no argument.
pub trait $server$Handlers {
    type SharedState: Clone + Send + Sync;
[handler]
    fn $method$(
        args: $args$,
        state: Self::SharedState,
    ) -> impl Future<Output = Result<$result$, McpError>> + Send;
[typed]
/// `$wire$`, as a type.
#[derive(Debug)]
pub enum $pascal$ {}

impl typed::ToolCap for $pascal$ {
    type Args = $args$;
    type Output = $result$;
    type Guardrail = typed::Required;
    const NAME: &'static str = $literal$;
}
[]

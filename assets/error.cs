/// <summary>What a call fails with: the code and message of the JSON-RPC error.</summary>
public sealed class McpException : Exception
{
    private McpException(int code, string message) : base(message) => Code = code;

    public int Code { get; }

    public static McpException InvalidParams(string what) => new(-32602, $"Invalid params: {what}");
    public static McpException ToolNotFound(string what) => new(-32601, $"Tool not found: {what}");
    public static McpException Internal(string what) => new(-32603, $"Internal error: {what}");
    public static McpException PermissionDenied(string what) => new(-32000, $"Permission denied: {what}");
}

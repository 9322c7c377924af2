/// <summary>Why a call fails: exceptions that the SDK answers with the JSON-RPC error of their code.</summary>
public static class McpErrors
{
    /// <summary>-32602: the arguments are not the tool's.</summary>
    public static McpProtocolException InvalidParams(string what) =>
        new($"Invalid params: {what}", McpErrorCode.InvalidParams);

    /// <summary>-32601: the server has no tool of that name.</summary>
    public static McpProtocolException ToolNotFound(string what) =>
        new($"Tool not found: {what}", McpErrorCode.MethodNotFound);

    /// <summary>-32603: the tool failed.</summary>
    public static McpProtocolException Internal(string what) =>
        new($"Internal error: {what}", McpErrorCode.InternalError);

    /// <summary>-32000: the caller may not do that.</summary>
    public static McpProtocolException PermissionDenied(string what) =>
        new($"Permission denied: {what}", (McpErrorCode)(-32000));

    /// <summary>Reads the arguments of a request, or throws <see cref="InvalidParams"/>.</summary>
    internal static T Read<T>(RequestContext<CallToolRequestParams> request)
    {
        var arguments = request.Params?.Arguments ?? new Dictionary<string, JsonElement>();
        try
        {
            return JsonSerializer.SerializeToElement(arguments).Deserialize<T>() ?? throw InvalidParams("null");
        }
        catch (JsonException error)
        {
            throw InvalidParams(error.Message);
        }
    }
}

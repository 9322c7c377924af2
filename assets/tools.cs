
@head
// The capabilities of the MCP server $server$: argument and result types, one interface a tool.
// Made by `mcp-approve lattice codegen --lang csharp`; generate it again when the server changes.
$notes$#nullable enable

using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.DependencyInjection;
using ModelContextProtocol;
using ModelContextProtocol.Protocol;
using ModelContextProtocol.Server;

namespace $name$Capabilities;

@can
/// <summary>May call <c>$wire$</c>.</summary>
public interface ICan$pascal$
{
$doc$    Task<$result$> $pascal$Async($args$ args, CancellationToken ct = default);
}
@caps
/// <summary>All that the server can do, and what it implements: one method a tool.</summary>
public interface I$server$Caps :
    $caps$
{
}
@class
/// <summary>The tool <c>$wire$</c>.</summary>
public sealed class $pascal$ : IToolCap<$args$>$unguarded$
{
    static string IToolCap.Name => $literal$;
}
@guardrail
IBeforeTool<$pascal$, $args$>
@agent
/// <summary>The guardrails of one agent: one for each tool that needs one.</summary>
public interface I$server$Guardrails$guardrails$
{
}

/// <summary>One agent: no call without the evidence that its own guardrail ran for it.</summary>
public sealed class $server$Agent(I$server$Caps caps, I$server$Guardrails guardrails)
{
    private readonly CallbackRunner runner = new();
@before
    /// <summary>Runs the guardrail of <c>$wire$</c>, or throws <see cref="GuardrailBlocked"/>.</summary>
    public Task<GuardrailEvidence<$pascal$>> Before$pascal$Async($args$ args, CancellationToken ct = default) =>
        runner.RunBeforeTool<$pascal$, $args$>(guardrails, args, ct);
@unchecked
    /// <summary>No guardrail runs: the definition of <c>$wire$</c> says that it needs none.</summary>
    public Task<GuardrailEvidence<$pascal$>> Before$pascal$Async($args$ args, CancellationToken ct = default) =>
        runner.Unchecked<$pascal$, $args$>(args, ct);
@call
    /// <summary>Calls <c>$wire$</c>, once.</summary>
    public Task<$result$> $pascal$Async(GuardrailEvidence<$pascal$> evidence, CancellationToken ct = default) =>
        caps.$pascal$Async(($args$)evidence.Take(runner)!, ct);
@tools
/// <summary>The server's tools as the SDK finds them. It makes an instance for each call, in the scope of that call.</summary>
[McpServerToolType]
public sealed class $server$Tools(I$server$Caps caps)
{
    private readonly I$server$Caps caps = caps;
@method
$doc$    [McpServerTool($attribute$)]$described$
    public Task<$result$> $pascal$(
        $parameters$) =>
        this.caps.$pascal$Async($new$);
@registration
/// <summary>Puts the server, or an agent of it, into a container.</summary>
public static class $server$Registration
{
    /// <summary>
    /// A server whose tools are <typeparamref name="TCaps"/>. That is Scoped, one for each call: it may hold what belongs to
    /// one call (a permitted root, a DbContext). What it needs itself is registered as Singleton where it is stateless and
    /// safe to share, as Transient where it is cheap; a Singleton never holds a Scoped service, which the container refuses.
    /// </summary>
    public static IMcpServerBuilder Add$server$<TCaps>(this IServiceCollection services)
        where TCaps : class, I$server$Caps
    {
        services.AddScoped<I$server$Caps, TCaps>();
        return services.AddMcpServer().WithTools<$server$Tools>();
    }

    /// <summary>An agent that reaches the server through <typeparamref name="TCaps"/>, with its guardrails.</summary>
    public static IServiceCollection Add$server$Agent<TCaps, TGuardrails>(this IServiceCollection services)
        where TCaps : class, I$server$Caps
        where TGuardrails : class, I$server$Guardrails
    {
        services.AddScoped<I$server$Caps, TCaps>();
        services.AddScoped<I$server$Guardrails, TGuardrails>();
        return services.AddScoped<$server$Agent>();
    }
}
@

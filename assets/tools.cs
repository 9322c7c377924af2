
[can]
/// <summary>May call <c>$wire$</c>.</summary>
public interface ICan$pascal$
{
    Task<$result$> $pascal$Async($args$ args, CancellationToken ct = default);
}
[caps]
/// <summary>All that the server can do.</summary>
public interface I$server$Caps :
    $caps$
{
}
[class]
/// <summary>The tool <c>$wire$</c>.</summary>
public sealed partial class $pascal$ : IToolCap<$args$>
{
    static string IToolCap<$args$>.Name => $literal$;
}
[guarded]
/// <summary>One agent's calls: none without the evidence that its guardrail ran for that very call.</summary>
public sealed class $server$Guarded
{
    private readonly I$server$Caps caps;

    public $server$Guarded(I$server$Caps caps) => this.caps = caps;

    public CallbackRunner Runner { get; } = new();
[call]
    public Task<$result$> $pascal$Async(
        $args$ args,
        GuardrailEvidence<$pascal$> evidence,
        CancellationToken ct = default)
    {
        evidence.Use(Runner, args);
        return caps.$pascal$Async(args, ct);
    }
[service]
/// <summary>
/// What the server's tools need. Register it as Scoped where it holds anything of one call (a permitted root, a
/// DbContext), as Singleton where it is stateless and safe to share, as Transient where it is cheap and short-lived.
/// A Scoped service is never injected into a Singleton: the container refuses that at its start.
/// </summary>
public interface I$server$Service;
[tools]
/// <summary>What the server implements: one method a tool.</summary>
public abstract class $server$Tools
{
[method]
$doc$    [McpTool($literal$, $described$)]
    public abstract Task<$result$> $pascal$(
        [FromServices] I$server$Service service,
        $args$ args,
        CancellationToken ct = default);
[]

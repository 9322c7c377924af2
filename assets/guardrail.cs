
/// <summary>One tool, as a type.</summary>
public interface IToolCap
{
    /// <summary>The name on the wire.</summary>
    static abstract string Name { get; }
}

/// <summary>One tool, with the type of its arguments.</summary>
public interface IToolCap<TArgs> : IToolCap;

/// <summary>A guardrail adds nothing to a call of this tool: its author says so in its definition.</summary>
public interface INoGuardrailRequired;

/// <summary>A guardrail refused. A decision and no failure of the protocol: it is the outcome of the agent's task.</summary>
public sealed class GuardrailBlocked(string reason) : Exception(reason);

/// <summary>What runs before a tool is called, registered with the context it decides by.</summary>
public interface IBeforeTool<T, TArgs>
{
    /// <summary>Lets a call with these arguments pass, or throws <see cref="GuardrailBlocked"/>.</summary>
    Task BeforeToolAsync(TArgs args, CancellationToken ct);
}

/// <summary>
/// Proof that one agent's guardrail ran for one call of a tool. Only a <see cref="CallbackRunner"/> makes one. It holds the
/// arguments, so that it serves no others; it serves its own agent, and once.
/// </summary>
public sealed class GuardrailEvidence<T> where T : IToolCap
{
    private readonly CallbackRunner runner;
    private readonly object? args;
    private int used;

    private GuardrailEvidence(CallbackRunner runner, object? args)
    {
        this.runner = runner;
        this.args = args;
    }

    internal static async Task<GuardrailEvidence<T>> After<TArgs>(
        IBeforeTool<T, TArgs> guardrail, TArgs args, CallbackRunner runner, CancellationToken ct)
    {
        await guardrail.BeforeToolAsync(args, ct);
        return new GuardrailEvidence<T>(runner, args);
    }

    internal object? Take(CallbackRunner by)
    {
        if (!ReferenceEquals(by, runner) || Interlocked.Exchange(ref used, 1) != 0)
        {
            throw new InvalidOperationException("The guardrail has not run for this call.");
        }
        return args;
    }
}

/// <summary>Runs the guardrails of one agent. Another agent's evidence is none here.</summary>
public sealed class CallbackRunner
{
    /// <summary>Runs the guardrail of a tool on the arguments of one call.</summary>
    public Task<GuardrailEvidence<T>> RunBeforeTool<T, TArgs>(
        IBeforeTool<T, TArgs> guardrail, TArgs args, CancellationToken ct)
        where T : IToolCap<TArgs> =>
        GuardrailEvidence<T>.After(guardrail, args, this, ct);

    /// <summary>Says in the code that no guardrail runs, for a tool that needs none.</summary>
    public Task<GuardrailEvidence<T>> Unchecked<T, TArgs>(TArgs args, CancellationToken ct)
        where T : IToolCap<TArgs>, INoGuardrailRequired =>
        GuardrailEvidence<T>.After(new NoGuardrail<T, TArgs>(), args, this, ct);

    private sealed class NoGuardrail<T, TArgs> : IBeforeTool<T, TArgs>
    {
        public Task BeforeToolAsync(TArgs args, CancellationToken ct) => Task.CompletedTask;
    }
}

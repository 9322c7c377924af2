
/// <summary>
/// One tool, as a type. Where its author holds that a guardrail adds nothing, a second part of the class says
/// <c>: INoGuardrailRequired</c>.
/// </summary>
public interface IToolCap<TArgs>
{
    static abstract string Name { get; }
}

/// <summary>A tool that may be called without a guardrail: its author says so where it is defined.</summary>
public interface INoGuardrailRequired;

/// <summary>A guardrail refused. A decision, not a failure of the protocol: it is the outcome of the agent's task.</summary>
public sealed record GuardrailBlocked(string Reason);

/// <summary>
/// Proof that one agent's guardrail ran for one call of a tool. Only running the guardrail makes one; it serves once.
/// </summary>
public sealed class GuardrailEvidence<T>
{
    private readonly CallbackRunner runner;
    private readonly object? args;
    private int used;

    private GuardrailEvidence(CallbackRunner runner, object? args)
    {
        this.runner = runner;
        this.args = args;
    }

    internal static GuardrailEvidence<T>? After<TArgs>(
        CallbackRunner runner, TArgs args, Func<TArgs, GuardrailBlocked?> callback, out GuardrailBlocked? blocked)
    {
        blocked = callback(args);
        return blocked is null ? new GuardrailEvidence<T>(runner, args) : null;
    }

    internal void Use(CallbackRunner of, object? with)
    {
        if (!ReferenceEquals(of, runner) || !Equals(with, args) || Interlocked.Exchange(ref used, 1) != 0)
        {
            throw new InvalidOperationException("The guardrail has not run for this call.");
        }
    }
}

/// <summary>Runs one agent's guardrails. Another agent's evidence is no evidence here.</summary>
public sealed class CallbackRunner
{
    /// <summary>Runs the guardrail on these arguments: the evidence, or what it refused with.</summary>
    public GuardrailEvidence<T>? RunBeforeTool<T, TArgs>(
        TArgs args, Func<TArgs, GuardrailBlocked?> callback, out GuardrailBlocked? blocked)
        where T : IToolCap<TArgs>
    {
        return GuardrailEvidence<T>.After(this, args, callback, out blocked);
    }

    /// <summary>Says aloud that no guardrail runs, for a tool that needs none.</summary>
    public GuardrailEvidence<T> Unchecked<T, TArgs>(TArgs args)
        where T : IToolCap<TArgs>, INoGuardrailRequired
    {
        return GuardrailEvidence<T>.After(this, args, _ => null, out _)!;
    }
}

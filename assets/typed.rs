
/// The lattice at compile time: a program that calls a tool outside of its capabilities, before the session is active, or without
/// the tool's guardrail having run is none that compiles.
pub mod typed {
    use std::marker::PhantomData;

    /// One tool, as a type. Generated code implements it once a tool.
    pub trait ToolCap {
        type Args;
        type Output;
        /// [`Required`], or [`NotRequired`] where the tool's author says that a guardrail adds nothing.
        type Guardrail: Guardrail;
        /// The name on the wire.
        const NAME: &'static str;
    }

    mod sealed {
        pub trait Sealed {}
        pub trait NotGuarded {}
        impl<T: super::ToolCap<Guardrail = super::NotRequired>> NotGuarded for T {}
    }

    /// Whether a tool's guardrail must have run. Sealed: there is [`Required`] and [`NotRequired`].
    pub trait Guardrail: sealed::Sealed {}

    /// The guardrail must have run for the very call.
    #[derive(Debug)]
    pub enum Required {}

    /// The tool only reads, or is as good done twice: its author said so where it is defined.
    #[derive(Debug)]
    pub enum NotRequired {}

    impl sealed::Sealed for Required {}
    impl sealed::Sealed for NotRequired {}
    impl Guardrail for Required {}
    impl Guardrail for NotRequired {}

    /// A tool that may be called without a guardrail. Sealed: a tool's own definition decides, and no caller can add to it.
    pub trait NoGuardrailRequired: ToolCap + sealed::NotGuarded {}

    impl<T: ToolCap<Guardrail = NotRequired>> NoGuardrailRequired for T {}

    /// A set of capabilities, as a type, holds this tool.
    pub trait Grants<T: ToolCap> {}

    /// An agent has this set of capabilities.
    pub trait HasCaps<C> {}

    /// An agent can call this tool: where its bytes go is its own matter.
    pub trait Calls<T: ToolCap> {
        type Error;

        /// Calls it.
        ///
        /// # Errors
        /// Whatever the agent's transport or the tool reports.
        fn call(&self, args: T::Args) -> Result<T::Output, Self::Error>;
    }

    /// An agent, cut down to what was delegated to it.
    #[derive(Debug)]
    pub struct Delegated<'a, S, C> {
        agent: &'a S,
        caps: PhantomData<C>,
    }

    /// Hands on what both have: `Effective(O → S) = Caps(S) ∩ Scope(O)`. No one grants what he does not possess.
    pub fn delegate<'a, O: HasCaps<C>, S: HasCaps<C>, C>(_orchestrator: &O, subagent: &'a S) -> Delegated<'a, S, C> {
        Delegated { agent: subagent, caps: PhantomData }
    }

    /// Before `initialize` was answered.
    #[derive(Debug)]
    pub enum Initialize {}
    /// After it: tools may be called.
    #[derive(Debug)]
    pub enum Active {}
    /// After the end.
    #[derive(Debug)]
    pub enum Closed {}

    /// The state of one MCP session, as a type (section 7).
    #[derive(Debug)]
    pub struct Session<P>(PhantomData<P>);

    impl Session<Initialize> {
        /// A session whose handshake has not happened.
        pub const fn begin() -> Self {
            Self(PhantomData)
        }

        /// The `initialized` notification was exchanged.
        pub fn initialized(self) -> Session<Active> {
            Session(PhantomData)
        }

        /// It ended before it began.
        pub fn close(self) -> Session<Closed> {
            Session(PhantomData)
        }
    }

    impl Session<Active> {
        /// It ends.
        pub fn close(self) -> Session<Closed> {
            Session(PhantomData)
        }
    }

    /// Proof that the guardrail of agent `A` ran for tool `T`. Only [`CallbackRunner`] makes one; it is neither copied nor cloned,
    /// and one agent's proof is no other's (section 8.4).
    #[derive(Debug)]
    #[must_use = "a proof that is dropped proves nothing"]
    pub struct GuardrailToken<T: ToolCap, A>(PhantomData<(T, A)>);

    /// A guardrail refused. A decision, not a failure of the protocol: tell the agent as the outcome of its task.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct GuardrailBlocked {
        pub reason: String,
    }

    impl std::fmt::Display for GuardrailBlocked {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "the guardrail refused: {}", self.reason)
        }
    }

    impl std::error::Error for GuardrailBlocked {}

    /// Runs one agent's guardrails.
    #[derive(Debug)]
    pub struct CallbackRunner<'a, A>(PhantomData<&'a A>);

    impl<'a, A> CallbackRunner<'a, A> {
        /// The runner of one agent.
        pub const fn of(_agent: &'a A) -> Self {
            Self(PhantomData)
        }

        /// Runs the callback on these arguments.
        ///
        /// # Errors
        /// What the callback refused with.
        pub fn run_before_tool<T: ToolCap>(
            &self,
            args: &T::Args,
            callback: impl FnOnce(&T::Args) -> Result<(), GuardrailBlocked>,
        ) -> Result<GuardrailToken<T, A>, GuardrailBlocked> {
            callback(args).map(|()| GuardrailToken(PhantomData))
        }

        /// Says aloud that no guardrail runs, for a tool that needs none (section 8.5).
        pub fn unchecked<T: NoGuardrailRequired>(&self) -> GuardrailToken<T, A> {
            GuardrailToken(PhantomData)
        }
    }

    /// `Safe(agent, tool, state)`: all three proofs were there. Only [`safe`] makes one.
    #[derive(Debug)]
    #[must_use = "a proof that is dropped proves nothing"]
    pub struct Safe<T: ToolCap, A>(PhantomData<(T, A)>);

    /// The safety predicate (section 8.6): `tool ∈ Caps(agent)` by the bounds, the guardrail's token, and a session that is active.
    /// Without any of the three it cannot be called.
    pub fn safe<T: ToolCap, C: Grants<T>, A: HasCaps<C>>(
        _agent: &Delegated<'_, A, C>,
        _token: GuardrailToken<T, A>,
        _session: &Session<Active>,
    ) -> Safe<T, A> {
        Safe(PhantomData)
    }

    /// Calls a tool that is safe to call, once.
    ///
    /// # Errors
    /// What the agent reports ([`Calls::Error`]).
    pub fn invoke<T: ToolCap, C: Grants<T>, A: Calls<T>>(
        agent: &Delegated<'_, A, C>,
        args: T::Args,
        _safe: Safe<T, A>,
    ) -> Result<T::Output, A::Error> {
        agent.agent.call(args)
    }
}

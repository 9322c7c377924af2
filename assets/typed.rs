
/// Calls that the compiler knows to be safe. `Safe(agent, tool, session)` needs three proofs, and a program without one of them does
/// not compile: the tool is in the agent's capabilities, the agent's guardrail ran for these very arguments, the session is active.
///
/// ```text
/// let lead = Agent::new(connection, guardrails);                  // every tool of the server
/// let reader = lead.delegate(other).narrow::<Only<ReadFile>>();   // what both may, and of that one tool
/// let token = reader.run_before_tool::<ReadFile>(args).await?;    // the guardrail lets the call pass
/// let read = invoke_tool(token, &session).await?;                 // and the call is made, once
/// ```
pub mod typed {
    use std::future::Future;
    use std::marker::PhantomData;

    use super::McpError;

    /// One tool, as a type. Sealed: there are those that the server has.
    pub trait ToolCap: sealed::Tool {
        type Args;
        type Output;
        /// [`Required`], or [`NotRequired`] where the tool's definition says `"guardrail": "not_required"`.
        type Guardrail;
        /// The name on the wire.
        const NAME: &'static str;
    }

    /// The guardrail must have run for the very call.
    #[derive(Debug)]
    pub enum Required {}

    /// A guardrail adds nothing to a call of this tool: its author says so in its definition.
    #[derive(Debug)]
    pub enum NotRequired {}

    /// A tool that may be called without a guardrail. Sealed: its definition decides, no caller.
    pub trait NoGuardrailRequired: ToolCap<Guardrail = NotRequired> {}

    impl<T: ToolCap<Guardrail = NotRequired>> NoGuardrailRequired for T {}

    /// The set of every tool (⊤).
    #[derive(Debug)]
    pub enum All {}

    /// The set of no tool (⊥).
    #[derive(Debug)]
    pub enum Nothing {}

    /// The set of what two halves of the server's tools hold. [`Only`], [`Join`] and [`Meet`] make it.
    #[derive(Debug)]
    pub struct Halves<A, B>(PhantomData<(A, B)>);

    /// The set of one tool.
    pub type Only<T> = <<T as sealed::Tool>::Place as sealed::Place>::Only;
    /// The tools that are in either set (∪).
    pub type Join<A, B> = <A as sealed::Lattice<B>>::Join;
    /// The tools that are in both sets (∩).
    pub type Meet<A, B> = <A as sealed::Lattice<B>>::Meet;

    /// A set holds this tool. Sealed: the compiler computes it.
    #[diagnostic::on_unimplemented(message = "the agent may not call `{T}`", label = "`{T}` is not in its capabilities")]
    pub trait Grants<T: ToolCap>: sealed::Holds<T::Place> {}

    #[diagnostic::do_not_recommend]
    impl<C: sealed::Holds<T::Place>, T: ToolCap> Grants<T> for C {}

    /// An agent has all of a set. Sealed: the compiler computes it.
    #[diagnostic::on_unimplemented(message = "the agent does not have all of these capabilities")]
    pub trait HasCaps<C>: sealed::Has<C> {}

    #[diagnostic::do_not_recommend]
    impl<A: sealed::Has<C>, C> HasCaps<C> for A {}

    /// What runs before a tool is called, registered with the context it decides by: one for each context and tool.
    #[diagnostic::on_unimplemented(message = "no guardrail for `{T}` is registered on `{Self}`")]
    pub trait BeforeTool<T: ToolCap> {
        /// Lets a call with these arguments pass.
        ///
        /// # Errors
        /// Why it may not.
        fn before_tool(&self, args: &T::Args) -> impl Future<Output = Result<(), GuardrailBlocked>> + Send;
    }

    /// A guardrail refused. A decision and no failure of the protocol: it is the outcome of the agent's task.
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

    /// An agent: its capabilities `C`, its connection to the server `S`, and the context `X` of its guardrails. It owns both, so that
    /// every call passes its guardrails.
    #[derive(Debug)]
    pub struct Agent<C, S, X> {
        connection: S,
        guardrails: X,
        caps: PhantomData<C>,
    }

    impl<S, X> Agent<All, S, X> {
        /// An agent with all that the server at the other end can do.
        pub const fn new(connection: S, guardrails: X) -> Self {
            Self { connection, guardrails, caps: PhantomData }
        }
    }

    impl<C, S, X> Agent<C, S, X> {
        /// Delegates to another agent, which is left with what both have: `Effective(O → S) = Caps(S) ∩ Scope(O)`. Its guardrails
        /// stay its own: none is inherited.
        pub fn delegate<D, S2, X2>(&self, subagent: Agent<D, S2, X2>) -> Agent<Meet<C, D>, S2, X2>
        where
            C: sealed::Lattice<D>,
        {
            Agent { connection: subagent.connection, guardrails: subagent.guardrails, caps: PhantomData }
        }

        /// Gives up all but these capabilities, for good.
        pub fn narrow<D>(self) -> Agent<D, S, X>
        where
            Self: HasCaps<D>,
        {
            Agent { connection: self.connection, guardrails: self.guardrails, caps: PhantomData }
        }

        /// Runs the guardrail of a tool on the arguments of one call.
        ///
        /// # Errors
        /// What the guardrail refused with.
        pub async fn run_before_tool<T: ToolCap>(
            &self,
            args: T::Args,
        ) -> Result<GuardrailToken<'_, T, Self>, GuardrailBlocked>
        where
            X: BeforeTool<T>,
        {
            self.guardrails.before_tool(&args).await?;
            Ok(GuardrailToken { agent: self, args })
        }

        /// Says in the code that no guardrail runs, for a tool that needs none.
        pub fn unchecked<T: NoGuardrailRequired>(&self, args: T::Args) -> GuardrailToken<'_, T, Self> {
            GuardrailToken { agent: self, args }
        }
    }

    /// Proof that an agent's guardrail ran for one call. It holds the agent and the arguments, so that it serves no other agent and
    /// no other arguments; it is neither copied nor cloned, so that it serves once.
    #[derive(Debug)]
    #[must_use = "the call is not made yet: `invoke_tool` makes it"]
    pub struct GuardrailToken<'a, T: ToolCap, A> {
        agent: &'a A,
        args: T::Args,
    }

    /// Calls a tool, once.
    ///
    /// # Errors
    /// What the connection or the tool reports.
    pub async fn invoke_tool<T: ToolCap, C: Grants<T>, S: sealed::Calls<T>, X>(
        token: GuardrailToken<'_, T, Agent<C, S, X>>,
        _session: &Session<Active>,
    ) -> Result<T::Output, McpError> {
        token.agent.connection.call(token.args).await
    }

    /// Before `initialize` was answered.
    #[derive(Debug)]
    pub enum Initialize {}

    /// After `notifications/initialized`: tools may be called.
    #[derive(Debug)]
    pub enum Active {}

    /// After the end.
    #[derive(Debug)]
    pub enum Closed {}

    /// The state of one MCP session, as a type.
    #[derive(Debug)]
    pub struct Session<P>(PhantomData<P>);

    impl Session<Initialize> {
        /// A session before its handshake.
        pub const fn begin() -> Self {
            Self(PhantomData)
        }

        /// The server answered `initialize`, and was sent `notifications/initialized`.
        pub fn initialized(self) -> Session<Active> {
            Session(PhantomData)
        }

        /// It ends before it begins.
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

    /// A place in the server's list of tools: which half, of that which half, and so on.
    #[derive(Debug)]
    pub enum Here {}

    #[derive(Debug)]
    pub struct First<P>(PhantomData<P>);

    #[derive(Debug)]
    pub struct Second<P>(PhantomData<P>);

    /// What the compiler computes with. The file around this module implements it for its tools; a program cannot.
    pub(super) mod sealed {
        use super::*;

        pub trait Tool {
            type Place: Place;
        }

        #[diagnostic::on_unimplemented(message = "`{Self}` does not implement the trait `Can…` of `{T}`")]
        pub trait Calls<T: ToolCap> {
            fn call(&self, args: T::Args) -> impl Future<Output = Result<T::Output, McpError>> + Send;
        }

        pub trait Place {
            type Only;
        }

        impl Place for Here {
            type Only = All;
        }

        impl<P: Place> Place for First<P> {
            type Only = Halves<P::Only, Nothing>;
        }

        impl<P: Place> Place for Second<P> {
            type Only = Halves<Nothing, P::Only>;
        }

        pub trait Holds<P> {}
        impl<P> Holds<P> for All {}
        impl<A: Holds<P>, B, P> Holds<First<P>> for Halves<A, B> {}
        impl<A, B: Holds<P>, P> Holds<Second<P>> for Halves<A, B> {}

        pub trait Has<C> {}
        impl<Own, C: Within<Own>, S, X> Has<C> for Agent<Own, S, X> {}

        /// `⊆`
        pub trait Within<C> {}
        impl<C> Within<C> for Nothing {}
        impl Within<All> for All {}
        impl<A, B> Within<Halves<A, B>> for All
        where
            All: Within<A> + Within<B>,
        {
        }
        impl<A, B> Within<All> for Halves<A, B> {}
        impl<A: Within<Nothing>, B: Within<Nothing>> Within<Nothing> for Halves<A, B> {}
        impl<A: Within<C>, B: Within<D>, C, D> Within<Halves<C, D>> for Halves<A, B> {}

        pub trait Lattice<C> {
            type Join;
            type Meet;
        }

        impl<C> Lattice<C> for All {
            type Join = All;
            type Meet = C;
        }

        impl<C> Lattice<C> for Nothing {
            type Join = C;
            type Meet = Nothing;
        }

        impl<A, B> Lattice<All> for Halves<A, B> {
            type Join = All;
            type Meet = Self;
        }

        impl<A, B> Lattice<Nothing> for Halves<A, B> {
            type Join = Self;
            type Meet = Nothing;
        }

        impl<A: Lattice<C>, B: Lattice<D>, C, D> Lattice<Halves<C, D>> for Halves<A, B> {
            type Join = Halves<A::Join, B::Join>;
            type Meet = Halves<A::Meet, B::Meet>;
        }
    }
}

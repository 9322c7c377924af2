//! The lattice at compile time (capability lattice, sections 4.2, 4.3, 7 and 8): what generated code is written against.
//!
//! Names that arrive on the wire stay values, and the gate checks those. Here an agent's program cannot be compiled that calls a
//! tool outside of its capabilities, before the session is active, or without its guardrail having run.
//!
//! ```
//! use mcp_approve::capability::typed::{
//!     CallbackRunner, Calls, Grants, GuardrailBlocked, HasCaps, Required, Session, ToolCap, delegate, invoke, safe,
//! };
//!
//! struct ReadFile;
//! impl ToolCap for ReadFile {
//!     type Args = String;
//!     type Output = usize;
//!     type Guardrail = Required;
//!     const NAME: &'static str = "read_file";
//! }
//! /// What both agents have.
//! struct Reading;
//! impl Grants<ReadFile> for Reading {}
//! struct Orchestrator;
//! impl HasCaps<Reading> for Orchestrator {}
//! struct Worker;
//! impl HasCaps<Reading> for Worker {}
//! impl Calls<ReadFile> for Worker {
//!     type Error = ();
//!     fn call(&self, args: String) -> Result<usize, ()> {
//!         Ok(args.len())
//!     }
//! }
//!
//! let worker = delegate::<_, _, Reading>(&Orchestrator, &Worker);
//! let session = Session::begin().initialized();
//! let runner = CallbackRunner::of(&Worker);
//! let args = "notes.txt".to_owned();
//! let token = runner.run_before_tool::<ReadFile>(&args, |path| {
//!     if path.contains("..") { Err(GuardrailBlocked { reason: "it climbs".to_owned() }) } else { Ok(()) }
//! });
//! let safe = safe::<ReadFile, Reading, _>(&worker, token.expect("nothing blocks it"), &session);
//! assert_eq!(invoke(&worker, args, safe), Ok(9));
//! ```

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
///
/// ```compile_fail,E0271
/// use mcp_approve::capability::typed::{NoGuardrailRequired, Required, ToolCap};
/// struct Delete;
/// impl ToolCap for Delete {
///     type Args = String;
///     type Output = ();
///     type Guardrail = Required;
///     const NAME: &'static str = "delete";
/// }
/// impl NoGuardrailRequired for Delete {}
/// ```
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
///
/// ```compile_fail,E0277
/// use mcp_approve::capability::typed::{HasCaps, delegate};
/// struct Writing;
/// struct Orchestrator; // it has no set at all
/// struct Worker;
/// impl HasCaps<Writing> for Worker {}
/// delegate::<_, _, Writing>(&Orchestrator, &Worker);
/// ```
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
///
/// ```compile_fail,E0599
/// use mcp_approve::capability::typed::Session;
/// Session::begin().close().initialized(); // it is over
/// ```
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
///
/// ```compile_fail,E0423
/// use mcp_approve::capability::typed::{GuardrailToken, NotRequired, ToolCap};
/// struct T;
/// impl ToolCap for T {
///     type Args = ();
///     type Output = ();
///     type Guardrail = NotRequired;
///     const NAME: &'static str = "t";
/// }
/// let forged: GuardrailToken<T, ()> = GuardrailToken(std::marker::PhantomData);
/// ```
#[derive(Debug)]
#[must_use = "a proof that is dropped proves nothing"]
pub struct GuardrailToken<T: ToolCap, A>(PhantomData<(T, A)>);

/// A guardrail refused. A decision, not a failure of the protocol: tell the agent as the outcome of its task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the guardrail refused: {reason}")]
pub struct GuardrailBlocked {
    pub reason: String,
}

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
    ///
    /// ```compile_fail,E0271
    /// use mcp_approve::capability::typed::{CallbackRunner, Required, ToolCap};
    /// struct Delete;
    /// impl ToolCap for Delete {
    ///     type Args = ();
    ///     type Output = ();
    ///     type Guardrail = Required;
    ///     const NAME: &'static str = "delete";
    /// }
    /// let _token = CallbackRunner::of(&()).unchecked::<Delete>();
    /// ```
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
///
/// ```compile_fail,E0308
/// use mcp_approve::capability::typed::{
///     CallbackRunner, Delegated, Grants, HasCaps, NotRequired, Session, ToolCap, delegate, safe,
/// };
/// struct Ping;
/// impl ToolCap for Ping {
///     type Args = ();
///     type Output = ();
///     type Guardrail = NotRequired;
///     const NAME: &'static str = "ping";
/// }
/// struct Pinging;
/// impl Grants<Ping> for Pinging {}
/// impl HasCaps<Pinging> for () {}
/// let agent = delegate::<_, _, Pinging>(&(), &());
/// let token = CallbackRunner::of(&()).unchecked::<Ping>();
/// safe::<Ping, Pinging, ()>(&agent, token, &Session::begin()); // the handshake is missing
/// ```
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

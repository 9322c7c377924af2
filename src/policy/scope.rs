//! The scope: which of its server's capabilities a wrapper may use. `Effective = Caps(S) ∩ Scope`: a tool, a resource or a prompt
//! must lie within every limit, so that whatever is joined to a scope can only narrow it (capability lattice, section 4).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::glob::Glob;
use super::role::Role;
use crate::behavior::Behavior;
use crate::capability::scope::Listed;
use crate::mcp::request::{self, Content, Standing};
use crate::mcp::{Revision, Tool};
use crate::wire::{Call, Digest, Origin};

/// What a wrapper may use: what lies within all of these limits; without any, everything that the server has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scope {
    limits: Vec<Limit>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// The tools of a list, of no wider type than it gives them.
    Listed(Listed),
    Role(Role),
    Nothing(String),
}

/// Proof that a call's tool lies in the scope, and that the call does no more than the scope grants; of another request, that the
/// scope names what it reads. Only [`Scope::admit`] makes one.
///
/// ```compile_fail,E0451
/// use mcp_approve::policy::scope::InScope;
/// let forged = InScope { call: mcp_approve::wire::digest::Digest::of(b"") };
/// ```
#[derive(Debug)]
#[must_use = "a proof that is dropped proves nothing"]
pub struct InScope {
    call: Digest,
}

/// Why a tool lies outside, for the record. Foreign text in it, raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside(pub String);

/// A tool, or one call of it, as it is known when the scope is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub server: &'a str,
    pub name: &'a str,
    /// `None` where the server has not described it.
    pub tool: Option<&'a Tool>,
    pub behavior: &'a Behavior,
}

#[derive(Clone, Copy, Debug)]
pub enum Asks<'a> {
    /// Whether a call may use its tool; also of a call inside another request.
    Tool(Asked<'a>),
    /// Whether another request of this server, written in this revision, may pass.
    Request(&'a str, Revision),
}

/// What the scope says of a request that it does not forbid. Ordered: the strictest of several is the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Admission {
    Passes,
    /// It does more than read, or nobody knows what it does: the operator decides.
    Asks,
}

impl Scope {
    pub fn of(limit: Limit) -> Self {
        Self { limits: vec![limit] }
    }

    #[must_use]
    pub fn meet(mut self, other: Self) -> Self {
        for limit in other.limits {
            if !self.limits.contains(&limit) {
                self.limits.push(limit);
            }
        }
        self
    }

    pub fn is_whole(&self) -> bool {
        self.limits.is_empty()
    }

    /// Whether a tool of this name can lie in it, whatever else is found out about it.
    pub fn may_name(&self, tool: &str) -> Result<(), Outside> {
        self.limits.iter().try_for_each(|limit| match limit {
            Limit::Listed(listed) if !listed.names(tool) => Err(Outside(format!("the scope does not list {tool}"))),
            Limit::Nothing(why) => Err(Outside(why.clone())),
            Limit::Listed(_) | Limit::Role(_) => Ok(()),
        })
    }

    pub fn holds(&self, asked: Asked<'_>) -> Result<(), Outside> {
        self.limits.iter().try_for_each(|limit| limit.holds(asked))
    }

    /// The proof for one call, by its tool and by what the call itself was found to do.
    pub fn admit(&self, call: &Call, asks: Asks<'_>) -> Result<InScope, Outside> {
        match (asks, call.method()) {
            (Asks::Tool(asked), _) => self.holds(asked)?,
            (Asks::Request(server, revision), Some(_)) => drop(self.admits_all(server, call, revision)?),
            (Asks::Request(..), None) => return Err(Outside("a tool call is not another request".to_owned())),
        }
        Ok(InScope { call: call.digest() })
    }

    /// What the scope says of a request other than a call. What the server asks of the host uses nothing of the server.
    fn admits_all(&self, server: &str, request: &Call, revision: Revision) -> Result<Admission, Outside> {
        if self.is_whole() || request.origin() != Origin::Host {
            return Ok(Admission::Passes);
        }
        let params = serde_json::from_str(request.arguments_text()).unwrap_or_default();
        self.admits(server, request.name(), &params, revision)
    }

    /// Whether a request of the host's other than a call may pass, by its method and `params`: what only lists passes, contents
    /// must lie within every limit, and anything else asks.
    pub fn admits(&self, server: &str, method: &str, params: &Value, revision: Revision) -> Result<Admission, Outside> {
        match request::standing(method, revision) {
            _ if self.is_whole() => Ok(Admission::Passes),
            Standing::Reads => Ok(Admission::Passes),
            Standing::Contents => {
                let unnamed = || Outside(format!("the scope: {method} does not name what it reads"));
                let named = request::contents(method, params).ok_or_else(unnamed)?;
                let within =
                    |content: &Content<'_>| self.limits.iter().try_for_each(|limit| limit.gives(server, *content));
                named.iter().try_for_each(within).map(|()| Admission::Passes)
            }
            Standing::Other => {
                let strictest = |so_far: Admission, limit: &Limit| Ok(so_far.max(limit.admits_other(server)?));
                self.limits.iter().try_fold(Admission::Passes, strictest)
            }
        }
    }

    /// What it is, in a few words: `viewer`, `5 tools`, `viewer ∩ 5 tools`; `None` for the whole. Foreign text in it, raw.
    pub fn words(&self) -> Option<String> {
        let words = |limit: &Limit| match limit {
            Limit::Listed(listed) if listed.count() == 1 => "1 tool".to_owned(),
            Limit::Listed(listed) => format!("{} tools", listed.count()),
            Limit::Role(role) => role.name.clone(),
            Limit::Nothing(_) => "nothing".to_owned(),
        };
        let words: Vec<String> = self.limits.iter().map(words).collect();
        (!words.is_empty()).then(|| words.join(" ∩ "))
    }
}

impl Limit {
    fn gives(&self, server: &str, content: Content<'_>) -> Result<(), Outside> {
        let (tag, is_listed, name): (_, &dyn Fn(&Listed) -> bool, _) = match content {
            Content::Resource(uri) => {
                ("resources:read", &|listed| listed.resources().any(|glob| lies_in(uri, glob)), uri)
            }
            Content::Prompt(name) => ("prompts:read", &|listed| listed.names_prompt(name), name),
        };
        match self {
            Self::Listed(listed) if is_listed(listed) => Ok(()),
            Self::Role(role) if role.grants(server, tag) => Ok(()),
            Self::Listed(_) => Err(Outside(format!("the scope does not list {name}"))),
            Self::Role(role) => Err(Outside(format!("the role {} does not grant {tag} here, for {name}", role.name))),
            Self::Nothing(why) => Err(Outside(why.clone())),
        }
    }

    /// What it says of a request that does more than read, or that the revision does not have.
    fn admits_other(&self, server: &str) -> Result<Admission, Outside> {
        match self {
            Self::Listed(_) => Ok(Admission::Asks),
            Self::Role(role) if role.grants_all(server) => Ok(Admission::Passes),
            Self::Role(_) => Ok(Admission::Asks),
            Self::Nothing(why) => Err(Outside(why.clone())),
        }
    }

    fn holds(&self, Asked { server, name, tool, behavior }: Asked<'_>) -> Result<(), Outside> {
        let outside = match self {
            Self::Listed(listed) => listed.lacks(name, tool).map(|why| format!("the scope: {name} {why}")),
            Self::Role(role) => {
                let lacks = role.lacks(server, name, tool, behavior);
                lacks.map(|lacks| format!("the role {} {}", role.name, lacks.words()))
            }
            Self::Nothing(why) => Some(why.clone()),
        };
        outside.map_or(Ok(()), |why| Err(Outside(why)))
    }
}

/// Whether an address lies in a glob. Scheme, host and the rest are compared each by itself, so that no wildcard reaches from one
/// into the next; an address that programs read differently lies only in `*`.
fn lies_in(address: &str, glob: &str) -> bool {
    let matches = |glob: &str, part: &str| glob == part || Glob::new(glob).is_ok_and(|glob| glob.matches(part));
    let is_odd =
        address.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') || request::climbs(address);
    match (parts(glob), parts(address)) {
        _ if glob == "*" || glob == address => true,
        (Some((scheme, host, rest)), Some(of)) if !is_odd && !of.1.contains('@') => {
            // `note://*` means all that is there.
            let rest = if rest.is_empty() && host.ends_with('*') { "*" } else { rest };
            matches(scheme, of.0) && matches(host, of.1) && matches(rest, of.2)
        }
        _ => false,
    }
}

fn parts(address: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = address.split_once(':')?;
    let Some(rest) = rest.strip_prefix("//") else { return Some((scheme, "", rest)) };
    let (host, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    Some((scheme, host, rest))
}

impl InScope {
    pub fn is_for(&self, call: &Call) -> bool {
        self.call == call.digest()
    }
}

//! The scope: which of its server's capabilities a wrapper may use. `Effective = Caps(S) ∩ Scope`: a tool must lie within every
//! limit, so that whatever is joined to a scope can only narrow it (capability lattice, section 4).

use serde::{Deserialize, Serialize};

use super::role::Role;
use crate::behavior::conclude::Behavior;
use crate::capability::scope::Listed;
use crate::mcp::tool::Tool;
use crate::wire::call::Call;
use crate::wire::digest::Digest;

/// What a wrapper may use: what lies within all of these limits; without any, everything that the server has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scope {
    limits: Vec<Limit>,
}

/// One limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// The tools of a list, of no wider type than it gives them.
    Listed(Listed),
    /// What a role grants.
    Role(Role),
    /// Nothing, for this reason.
    Nothing(String),
}

/// Proof that a call's tool lies in the scope, and that the call does no more than the scope grants. Only [`Scope::admit`]
/// makes one.
///
/// ```compile_fail,E0451
/// use mcp_approve::policy::scope::InScope;
/// let forged = InScope { call: mcp_approve::wire::digest::Digest::of(b"") };
/// ```
#[derive(Debug)]
#[must_use = "a proof that is dropped proves nothing"]
pub struct InScope {
    /// The call it was made for.
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

impl Scope {
    /// The scope of one limit.
    pub fn of(limit: Limit) -> Self {
        Self { limits: vec![limit] }
    }

    /// What lies within both.
    #[must_use]
    pub fn meet(mut self, other: Self) -> Self {
        for limit in other.limits {
            if !self.limits.contains(&limit) {
                self.limits.push(limit);
            }
        }
        self
    }

    /// Whether it is everything that the server has.
    pub fn is_whole(&self) -> bool {
        self.limits.is_empty()
    }

    /// Whether a tool of this name can lie in it, whatever else is found out about it.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn may_name(&self, tool: &str) -> Result<(), Outside> {
        self.limits.iter().try_for_each(|limit| match limit {
            Limit::Listed(listed) if !listed.names(tool) => Err(Outside(format!("the scope does not list {tool}"))),
            Limit::Nothing(why) => Err(Outside(why.clone())),
            Limit::Listed(_) | Limit::Role(_) => Ok(()),
        })
    }

    /// Whether a tool, or one call of it, lies in the scope.
    ///
    /// # Errors
    /// Why it does not.
    pub fn holds(&self, asked: Asked<'_>) -> Result<(), Outside> {
        self.limits.iter().try_for_each(|limit| limit.holds(asked))
    }

    /// The proof for one call, by its tool and by what the call itself was found to do.
    ///
    /// # Errors
    /// Why the call lies outside.
    pub fn admit(&self, call: &Call, asked: Asked<'_>) -> Result<InScope, Outside> {
        // A scope is about tools: other requests lie in any.
        let held = if call.method().is_some() { Ok(()) } else { self.holds(asked) };
        held.map(|()| InScope { call: call.digest() })
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

impl InScope {
    /// Whether it was made for exactly these bytes.
    pub fn is_for(&self, call: &Call) -> bool {
        self.call == call.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, Limit, Scope};
    use crate::behavior::conclude::Behavior;
    use crate::behavior::confidence::Confidence;
    use crate::capability::scope::Listed;
    use crate::policy::role::Role;

    fn listed(text: &str) -> Scope {
        Scope::of(Limit::Listed(Listed::read(text).unwrap()))
    }

    fn role(name: &str) -> Scope {
        Scope::of(Limit::Role(Role::given().into_iter().find(|role| role.name == name).unwrap()))
    }

    #[test]
    fn whoever_delegates_hands_on_no_more_than_it_has() {
        let read = Behavior {
            identity: "PURE|READ|CONTENT".parse().unwrap(),
            confidence: Confidence::Proven,
            ..Behavior::unknown()
        };
        let unknown = Behavior::unknown();
        let scopes = [
            Scope::default(),
            listed(r#"["a","b"]"#),
            role("viewer"),
            role("admin"),
            Scope::of(Limit::Nothing("x".into())),
        ];
        for above in &scopes {
            for own in &scopes {
                let both = own.clone().meet(above.clone());
                for (name, behavior) in [("a", &read), ("a", &unknown), ("c", &read), ("c", &unknown)] {
                    let holds = |scope: &Scope| scope.holds(Asked { server: "s", name, tool: None, behavior }).is_ok();
                    assert_eq!(holds(&both), holds(own) && holds(above), "{name} {own:?} {above:?}");
                    assert!(both.may_name(name).is_ok() || !holds(&both), "{name} {both:?}");
                }
                let json = serde_json::to_value(&both).unwrap();
                assert_eq!(serde_json::from_value::<Scope>(json).unwrap(), both);
            }
        }
        assert_eq!(role("viewer").meet(listed(r#"["a"]"#)).words().as_deref(), Some("viewer ∩ 1 tool"));
        assert_eq!(Scope::default().words(), None);
    }

    #[test]
    fn a_scope_that_cannot_be_read_whole_is_none() {
        for text in
            ["{}", "null", r#"[{"listed":["a"],"role":{}}]"#, r#"[{"more":1}]"#, r#"[{"role":{"name":"viewer"}}]"#]
        {
            assert!(serde_json::from_str::<Scope>(text).is_err(), "{text}");
        }
    }
}

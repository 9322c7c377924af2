//! Makes the schema and the roles on the engine, and finds what is wrong with a role.

use super::engine::{Engine, EngineError};

/// The schema, its tables, grants and row policies.
const SCHEMA: &str = include_str!("../../assets/desk.sql");

/// A login role that `desk init` makes. It has no password: whoever runs the database gives it one, or a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRole {
    pub name: String,
    pub group: Group,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Machine,
    Operator,
    Auditor,
}

impl Group {
    pub const ALL: [Self; 3] = [Self::Machine, Self::Operator, Self::Auditor];

    /// The role that its members inherit from.
    pub const fn role(self) -> &'static str {
        match self {
            Self::Machine => "mcp_approve_machine",
            Self::Operator => "mcp_approve_operator",
            Self::Auditor => "mcp_approve_auditor",
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Operator => "operator",
            Self::Auditor => "auditor",
        }
    }
}

/// Makes schema and roles, all or nothing; what is there already stays.
pub async fn make(engine: &mut Engine, roles: &[NewRole]) -> Result<(), EngineError> {
    let transaction = engine.client.transaction().await?;
    transaction.batch_execute(SCHEMA).await?;
    for NewRole { name, group } in roles {
        let there = transaction.query_opt("SELECT FROM pg_roles WHERE rolname = $1", &[name]).await?.is_some();
        // A name cannot be a parameter of these statements; the engine itself quotes it.
        let made: String = transaction.query_one("SELECT quote_ident($1)", &[name]).await?.get(0);
        if !there {
            // So that no role takes all that the engine has. Whoever makes roles may have set another limit: it stays.
            transaction.batch_execute(&format!("CREATE ROLE {made} LOGIN CONNECTION LIMIT 10")).await?;
        }
        transaction.batch_execute(&format!("GRANT {} TO {made}", group.role())).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// What a role is on the desk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleFound {
    pub name: String,
    pub groups: Vec<Group>,
    /// Why what it may do is not held to the grants, in our words.
    pub beyond: Vec<String>,
}

/// What the role of this connection is.
pub async fn role(engine: &Engine) -> Result<RoleFound, EngineError> {
    const ASK: &str = "SELECT session_user::text, r.rolsuper, r.rolbypassrls, r.rolcreaterole, \
        EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = 'mcp_approve' AND pg_has_role(session_user, c.relowner, 'MEMBER')) \
        FROM pg_roles r WHERE r.rolname = session_user";
    let row = engine.client.query_one(ASK, &[]).await?;
    let says = [
        (row.get::<_, bool>(1), "it is a superuser, whom no grant holds"),
        (row.get::<_, bool>(2), "it bypasses row-level security"),
        (row.get::<_, bool>(3), "it may make roles, and so take any"),
        (row.get::<_, bool>(4), "it owns the desk's tables, or is a member of their owner"),
    ];
    let beyond = says.into_iter().filter(|(is, _)| *is).map(|(_, why)| why.to_owned()).collect();
    let mut groups = Vec::new();
    for group in Group::ALL {
        const IS: &str =
            "SELECT count(*) > 0 FROM pg_roles WHERE rolname = $1 AND pg_has_role(session_user, oid, 'MEMBER')";
        if engine.client.query_one(IS, &[&group.role()]).await?.get(0) {
            groups.push(group);
        }
    }
    Ok(RoleFound { name: row.get(0), groups, beyond })
}

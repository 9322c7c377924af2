//! What a desk is right now, in a few figures: who has a role there and is connected, and how many calls wait. Reads no card.

use super::by_role::fitting;
use super::engine::{Engine, EngineError, Program};
use super::init::{Group, RoleFound, role};
use super::operator::WAITING;
use super::told::Told;
use super::witness::{NOTES, newest_notes};
use crate::signing::standing::Me;

/// A role of a machine or an operator, and whether it is connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    pub group: Group,
    pub is_here: bool,
}

#[derive(Clone, Debug)]
pub struct Overview {
    /// Who this connection is.
    pub role: RoleFound,
    pub members: Vec<Member>,
    /// `None` where this role may not see it.
    pub waiting: Option<u64>,
    /// The newest notes on the ends of logs, unchecked; `None` where this role may not see them.
    pub witnesses: Option<Vec<String>>,
}

impl Overview {
    pub fn is(&self, group: Group) -> bool {
        self.role.groups.contains(&group)
    }

    pub fn of(&self, group: Group) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(move |member| member.group == group)
    }
}

/// Asks the desk, in as few statements as it takes.
///
/// # Errors
/// Why the desk cannot be used.
pub async fn overview(engine: &Engine) -> Result<Overview, EngineError> {
    const MEMBERS: &str = "SELECT rolname::text, is_machine, EXISTS (SELECT FROM pg_stat_activity
                WHERE usesysid = roles.oid AND datname = current_database()
                    AND application_name = CASE WHEN is_machine THEN $1 ELSE $2 END)
        FROM (SELECT oid, rolname, pg_has_role(oid, 'mcp_approve_machine', 'MEMBER') AS is_machine FROM pg_roles
            WHERE rolcanlogin AND NOT rolsuper) AS roles
        WHERE is_machine OR pg_has_role(oid, 'mcp_approve_operator', 'MEMBER') ORDER BY rolname";
    let role = role(engine).await?;
    let names = [Program::Machine.name(), Program::Console.name()];
    let rows = engine.client.query(MEMBERS, &[&names[0], &names[1]]).await?;
    let member = |row: &tokio_postgres::Row| Member {
        name: row.get(0),
        group: if row.get(1) { Group::Machine } else { Group::Operator },
        is_here: row.get(2),
    };
    let members = rows.iter().map(member).collect();
    let sees = role.groups.contains(&Group::Operator) || role.groups.contains(&Group::Auditor);
    let (mut waiting, mut witnesses) = (None, None);
    if sees {
        let count: i64 = engine.client.query_one(WAITING.as_str(), &[]).await?.get(0);
        waiting = u64::try_from(count).ok();
        let newest = newest_notes();
        let rows = engine.client.query(&newest, &[&NOTES]).await?;
        witnesses = Some(rows.iter().map(|row| row.get(0)).collect());
    }
    Ok(Overview { role, members, waiting, witnesses })
}

/// How many sessions of each machine are asked for its names.
const SESSIONS: i64 = 16;

/// How many sessions of one role are asked for all its names.
const ALL_SESSIONS: i64 = 20_000;

/// Who a role said that it is, first and last in each session; `None` where that is more than is read. All of it is foreign text.
///
/// # Errors
/// Why the desk cannot be used.
pub async fn names_of(engine: &Engine, role: &str) -> Result<Option<Vec<Me>>, EngineError> {
    // The first one of a session is its wrapper's own.
    const HELLOS: &str = "SELECT place, said FROM mcp_approve.told WHERE place IN (
        SELECT place FROM (SELECT DISTINCT ON (session) place FROM mcp_approve.told
            WHERE machine = $1 AND ticket = '' AND kind = 'hello' ORDER BY session, place LIMIT $2) AS first
        UNION SELECT place FROM (SELECT DISTINCT ON (session) place FROM mcp_approve.told
            WHERE machine = $1 AND ticket = '' AND kind = 'hello' ORDER BY session, place DESC LIMIT $2) AS last)";
    let hellos = fitting(HELLOS, "octet_length(said)", "place", "said, there");
    let rows = engine.client.query(&hellos, &[&role, &ALL_SESSIONS]).await?;
    let there: i64 = rows.first().map_or(0, |row| row.get(1));
    if there >= ALL_SESSIONS || i64::try_from(rows.len()) != Ok(there) {
        return Ok(None);
    }
    let mut names: Vec<Me> = rows.iter().filter_map(|row| named(row.get(0))).collect();
    names.sort();
    names.dedup();
    Ok(Some(names))
}

/// Who says this.
fn named(said: &str) -> Option<Me> {
    match serde_json::from_str(said) {
        Ok(Told::Hello { host, user, .. }) => Some(Me { machine: host, user }),
        Ok(_) | Err(_) => None,
    }
}

/// What machines say of themselves, each with its role: as stops name them. All of it is foreign text.
///
/// # Errors
/// Why the desk cannot be used.
pub async fn names(engine: &Engine) -> Result<Vec<(String, Me)>, EngineError> {
    const HELLOS: &str = "WITH hello AS (
            SELECT machine, max(place) AS place FROM mcp_approve.told WHERE ticket = '' AND kind = 'hello'
            GROUP BY machine, session
        ), newest AS (SELECT place, row_number() OVER (PARTITION BY machine ORDER BY place DESC) AS nth FROM hello)
        SELECT machine, said FROM newest JOIN mcp_approve.told USING (place) WHERE nth <= $1 AND length(said) <= 65536";
    let named = |row: &tokio_postgres::Row| Some((row.get(0), named(row.get(1))?));
    let mut names: Vec<(String, Me)> =
        engine.client.query(HELLOS, &[&SESSIONS]).await?.iter().filter_map(named).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

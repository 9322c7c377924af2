//! Reads rows of each role that wrote in turn, and no more at once than fit: whatever one role fills a table with, it delays and hides its own
//! rows only. `operator` and `machine` are the engine's own words for who wrote a row.

use std::collections::VecDeque;

use tokio_postgres::Row;

use super::engine::{Engine, EngineError};

/// The snapshot in which no row is visible.
const FIRST: &str = "1:1:";

/// How many bytes are read at once, and one row more.
pub const FIT: i64 = 8 << 20;

/// As many of these rows as fit, in this order: what one takes in bytes is `size`, and how many all of them are is `there`.
pub fn fitting(rows: &str, size: &str, order: &str, columns: &str) -> String {
    format!(
        "SELECT {columns} FROM (SELECT *, sum(size) OVER (ORDER BY {order}) - size AS before, count(*) OVER () AS there
            FROM (SELECT *, ({size})::bigint AS size FROM ({rows}) AS one) AS sized
        ) AS page WHERE before <= {FIT} ORDER BY {order}"
    )
}

/// A table whose new rows are read. It has an index on what chooses a row, then the role, `xid`, `place`; without a key one on `xid`, too.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    /// The column that says who wrote a row.
    pub role: &'static str,
    /// How many roles have a turn in one page, and whether the newest of a role's rows come first.
    pub roles: usize,
    pub newest_first: bool,
    /// What chooses rows besides [`Self::key`], and ends with `AND`; or nothing.
    pub own: &'static str,
    /// The column by whose values rows are read; or nothing, and all are read.
    pub key: &'static str,
    /// Which rows of the past are read, where all are: begins with `AND`; or nothing.
    pub past: &'static str,
    pub columns: &'static str,
    /// How many bytes they have.
    pub size: &'static str,
    /// How many rows of a role are read at once.
    pub most: i64,
}

/// What is new in a table: each row once, whenever its transaction ends.
#[derive(Debug)]
pub struct ByRole {
    table: &'static Table,
    /// The snapshot up to which it was looked for new rows.
    since: String,
    unread: VecDeque<Unread>,
}

/// Rows of one role that are visible in a snapshot, and were not in one before.
#[derive(Clone, Debug)]
struct Unread {
    key: String,
    role: String,
    since: String,
    until: String,
    /// The transaction and the place of the last that was read.
    last: Option<(String, i64)>,
    /// More have come, and are visible in this snapshot.
    later: Option<String>,
}

impl Unread {
    fn new((key, role): (String, String), since: &str, until: &str) -> Self {
        Self { key, role, since: since.to_owned(), until: until.to_owned(), last: None, later: None }
    }

    /// What is unread of this role after its rows of a page, which are all that there are, or not.
    fn after(self, page: &[&Row], is_all: bool) -> Option<Self> {
        match page.last() {
            Some(last) if !is_all => Some(Self { last: Some((last.get(2), last.get(1))), ..self }),
            None if !is_all => Some(self),
            Some(_) | None => self.later.map(|later| Self::new((self.key, self.role), &self.until, &later)),
        }
    }
}

impl ByRole {
    pub fn new(table: &'static Table) -> Self {
        Self::after(table, FIRST.to_owned())
    }

    /// What is not visible in a snapshot.
    pub fn after(table: &'static Table, since: String) -> Self {
        Self { table, since, unread: VecDeque::new() }
    }

    pub fn is_behind(&self) -> bool {
        !self.unread.is_empty()
    }

    /// How many roles have rows that are unread: after so many pages each of them had a turn.
    pub fn turns(&self) -> usize {
        self.unread.len()
    }

    /// Whether all that was found of a role is read.
    pub fn has_read(&self, role: &str) -> bool {
        self.unread.iter().all(|one| one.role != role)
    }

    /// The snapshot up to which it was looked for new rows.
    pub fn since(&self) -> &str {
        &self.since
    }

    /// Looks for new rows with these keys, and for all rows with the fresh ones. Whoever stops it in the middle has missed nothing. Returns
    /// whether the database is an older copy of itself, so that all rows are new.
    pub async fn look(&mut self, engine: &Engine, known: &[String], fresh: &[String]) -> Result<bool, EngineError> {
        let (mut since, (mut until, mut found)) = (&*self.since, self.found(engine, known, &self.since).await?);
        // The database is an older copy of itself: its transactions have numbers again that others had.
        let is_older = number(&until) < number(since);
        if is_older {
            (since, (until, found)) = (FIRST, self.found(engine, known, FIRST).await?);
        }
        // Asked last: what comes after it is new the next time.
        let all = if fresh.is_empty() { None } else { Some(self.found(engine, fresh, FIRST).await?) };
        let mut new: Vec<Unread> = found.into_iter().map(|wrote| Unread::new(wrote, since, &until)).collect();
        if let Some((until, found)) = all {
            new.extend(found.into_iter().map(|wrote| Unread::new(wrote, FIRST, &until)));
        }
        self.unread.retain(|one| !is_older && known.contains(&one.key) && !fresh.contains(&one.key));
        for one in new {
            match self.unread.iter_mut().find(|old| (&old.key, &old.role) == (&one.key, &one.role)) {
                Some(old) => old.later = Some(one.until),
                None => self.unread.push_back(one),
            }
        }
        self.since = until;
        Ok(is_older)
    }

    /// The snapshot of now, and who wrote rows that were not visible before, with their keys.
    async fn found(
        &self,
        engine: &Engine,
        keys: &[String],
        since: &str,
    ) -> Result<(String, Vec<(String, String)>), EngineError> {
        const NEW: &str =
            "xid >= pg_snapshot_xmin($2::text::pg_snapshot) AND NOT pg_visible_in_snapshot(xid, $2::text::pg_snapshot)";
        let Table { name, role, own, key, .. } = self.table;
        let found = match *key {
            "" => format!(
                "SELECT DISTINCT one.key, {role} AS role FROM unnest($1::text[]) AS one (key) CROSS JOIN mcp_approve.{name} WHERE {own} {NEW}"
            ),
            key => format!(
                "SELECT one.key, wrote.role FROM unnest($1::text[]) AS one (key) CROSS JOIN LATERAL {} AS wrote
                WHERE EXISTS (SELECT FROM mcp_approve.{name} WHERE {own} {key} = one.key AND {role} = wrote.role AND {NEW})",
                roles(name, &format!("{own} {key} = one.key"))
            ),
        };
        let look = format!(
            "SELECT pg_current_snapshot()::text, found.key, found.role FROM (VALUES (0)) AS always LEFT JOIN ({found}) AS found ON true"
        );
        let rows = engine.client.query(&look, &[&keys, &since]).await?;
        let until = rows.first().map_or_else(|| since.to_owned(), |row| row.get(0));
        Ok((until, rows.iter().filter_map(|row| Some((row.get::<_, Option<_>>(1)?, row.get(2)))).collect()))
    }

    /// The next rows of the roles whose turn it is: after three columns of ours, who wrote them, and the table's; then one of ours.
    pub async fn page(&mut self, engine: &Engine) -> Result<Vec<Row>, EngineError> {
        let Table { name, role, roles, newest_first, own, key, past, columns, size, most } = self.table;
        let (than, by) = if *newest_first { ("<", "DESC") } else { (">", "ASC") };
        let key = if key.is_empty() { "''" } else { key };
        let page = format!(
            "SELECT turn.nth, page.* FROM
                unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[]) WITH ORDINALITY
                    AS turn (key, role, since, until, xid, place, nth)
                CROSS JOIN LATERAL (
                    SELECT place, xid, {role} AS wrote, {columns} FROM mcp_approve.{name} AS it
                    WHERE {own} {key} = turn.key AND {role} = turn.role AND xid >= pg_snapshot_xmin(turn.since::pg_snapshot)
                        AND (xid, place) {than} (turn.xid::xid8, turn.place) AND NOT pg_visible_in_snapshot(xid, turn.since::pg_snapshot)
                        AND pg_visible_in_snapshot(xid, turn.until::pg_snapshot) AND (turn.since <> '{FIRST}' OR (true {past}))
                    ORDER BY it.xid {by}, place {by} LIMIT $7
                ) AS page"
        );
        let order = format!("nth, xid {by}, place {by}");
        let page = fitting(&page, size, &order, &format!("nth, place, xid::text, wrote, {columns}, there"));
        let turn: Vec<Unread> = self.unread.iter().take(*roles).cloned().collect();
        let text = |of: fn(&Unread) -> &String| turn.iter().map(of).collect::<Vec<_>>();
        let (keys, roles) = (text(|one| &one.key), text(|one| &one.role));
        let (since, until) = (text(|one| &one.since), text(|one| &one.until));
        let begin = if *newest_first { (u64::MAX.to_string(), i64::MAX) } else { ("0".to_owned(), 0) };
        let last = turn.iter().map(|one| one.last.clone().unwrap_or_else(|| begin.clone()));
        let (xids, places): (Vec<String>, Vec<i64>) = last.unzip();
        let rows = engine.client.query(&page, &[&keys, &roles, &since, &until, &xids, &places, most]).await?;
        // Only now: whoever stops it before has missed nothing.
        self.unread.drain(..turn.len());
        // The role that was not read to its end, because no more fits; those after it have no rows here, and may have some.
        let cut = match rows.last() {
            Some(last) if i64::try_from(rows.len()) != Ok(last.get(last.len() - 1)) => last.get(0),
            Some(_) | None => i64::MAX,
        };
        let mut first = VecDeque::new();
        for (nth, one) in (1_i64..).zip(turn) {
            let own: Vec<&Row> = rows.iter().filter(|row| row.get::<_, i64>(0) == nth).collect();
            let left = one.after(&own, nth < cut && i64::try_from(own.len()) != Ok(*most));
            // A role for which no room was left has the next turn.
            if nth > cut { &mut first } else { &mut self.unread }.extend(left);
        }
        first.append(&mut self.unread);
        self.unread = first;
        Ok(rows)
    }
}

/// The column `role` of a subquery: who wrote rows that are chosen so. It takes the index from one role to the next, and reads no row.
pub fn roles(table: &str, chosen: &str) -> String {
    format!(
        "(WITH RECURSIVE wrote AS (
            (SELECT operator AS role FROM mcp_approve.{table} WHERE {chosen} ORDER BY operator LIMIT 1)
            UNION ALL
            SELECT (SELECT operator FROM mcp_approve.{table} WHERE {chosen} AND operator > wrote.role ORDER BY operator LIMIT 1)
            FROM wrote WHERE wrote.role IS NOT NULL
        ) SELECT role FROM wrote WHERE role IS NOT NULL)"
    )
}

/// The first transaction that a snapshot does not show as ended.
fn number(snapshot: &str) -> u64 {
    snapshot.split(':').next().and_then(|xmin| xmin.parse().ok()).unwrap_or_default()
}

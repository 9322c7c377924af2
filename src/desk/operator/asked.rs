//! What a console asks of the desk's tables.

use std::sync::LazyLock;

use super::load::{SHARE, WRAPPERS};
use crate::desk::by_role::{Table, fitting, roles};

/// Which rows a console begins with: of each wrapper that is not gone what it said of itself last, and its cards without an end; what waits
/// is sent after each hello. The indexes have all that this asks, so that no row is read for it.
///
/// `part` says what is at `place`: 0 a hello, 1 a status, 2 a card, of each machine the oldest, then of each the next. With 3 and 4 `place` is
/// how many wrappers and how many calls of a machine are too many.
pub(super) static BEGINNING: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH said AS (
            SELECT machine, session, max(place) FILTER (WHERE kind = 'hello') AS hello, max(place) FILTER (WHERE kind = 'status') AS status,
                coalesce(max(place) FILTER (WHERE kind = 'gone'), 0) AS gone
            FROM mcp_approve.told WHERE ticket = '' GROUP BY machine, session
        ), marked AS (SELECT *, max(gone) FILTER (WHERE session = '*') OVER (PARTITION BY machine) AS every FROM said), all_here AS (
            SELECT machine, session, hello, marked.status, row_number() OVER (PARTITION BY machine ORDER BY hello DESC) AS nth
            FROM marked WHERE hello > gone AND hello > coalesce(every, 0)
        ), here AS (SELECT machine, session, hello, status FROM all_here WHERE nth <= {WRAPPERS}),
        calls AS (
            SELECT DISTINCT ON (machine, session, ticket) place, kind, machine
            FROM mcp_approve.told JOIN here USING (machine, session)
            WHERE ticket <> '' AND kind IN ('held', 'settled') AND place > hello
            ORDER BY machine, session, ticket, place DESC
        ), waiting AS (SELECT place, machine, row_number() OVER (PARTITION BY machine ORDER BY place) AS nth FROM calls WHERE kind = 'held')
        SELECT 0 AS part, 0::bigint AS nth, hello AS place, machine FROM here
        UNION ALL SELECT 1, 0, status, machine FROM here WHERE status > hello
        UNION ALL SELECT 2, nth, place, machine FROM waiting WHERE nth <= {calls}
        UNION ALL SELECT 4, 0, count(*), machine FROM waiting WHERE nth > {calls} GROUP BY machine
        UNION ALL SELECT 3, 0, count(*), machine FROM all_here WHERE nth > {WRAPPERS} GROUP BY machine
        ORDER BY part, nth, place",
        calls = SHARE.calls,
    )
});

/// Those of these rows that a snapshot shows, in their order: the others are read with what is new.
pub(super) static ROWS: LazyLock<String> = LazyLock::new(|| {
    const WANTED: &str = "SELECT nth, place, machine, session, ticket, said
        FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (place, nth) JOIN mcp_approve.told USING (place)
        WHERE pg_visible_in_snapshot(xid, $2::text::pg_snapshot)";
    fitting(WANTED, "octet_length(said)", "nth", "nth, place, machine, session, ticket, said, there")
});

/// What is new is read machine by machine, the oldest first.
pub(super) static TOLD: Table = Table {
    name: "told",
    role: "machine",
    roles: 16,
    newest_first: false,
    own: "",
    key: "",
    past: "",
    columns: "session, ticket, said",
    size: "octet_length(said)",
    most: 64,
};

/// Who is connected, as everybody may see it: `usename` is whom the engine let in.
pub(super) const PRESENT: &str = "SELECT DISTINCT usename::text, application_name = $1 FROM pg_stat_activity
    WHERE datname = current_database() AND usename <> session_user
        AND (application_name = $1 AND pg_has_role(usesysid, 'mcp_approve_machine', 'MEMBER')
            OR application_name = $2 AND pg_has_role(usesysid, 'mcp_approve_operator', 'MEMBER'))";

/// Looks that have not lapsed, by the engine's own clock, among the newest of each role; one's own are not shown.
pub(super) static LOOKS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT DISTINCT machine, session, ticket, operator FROM {} AS wrote CROSS JOIN LATERAL (
            SELECT * FROM mcp_approve.look WHERE operator = wrote.role ORDER BY place DESC LIMIT 16) AS latest
        WHERE time > now() - interval '2 minutes' AND greatest(octet_length(machine), octet_length(session), octet_length(ticket)) <= 1024",
        roles("look", "operator <> session_user")
    )
});

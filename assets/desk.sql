-- The desk of many machines, on PostgreSQL 14 or later: version 1. `mcp-approve desk init` runs this as the schema's owner, and
-- may run it again. Nothing here is ever changed: rows are added, and nobody but the owner removes any.
--
-- Who a row is from is never said by the client: the columns `machine` and `operator` take the role that logged in, and no role may
-- write them. A machine is one login role for each user of a machine.
SET search_path = pg_catalog, pg_temp;
CREATE SCHEMA IF NOT EXISTS mcp_approve;
REVOKE ALL ON SCHEMA mcp_approve FROM PUBLIC;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['mcp_approve_machine', 'mcp_approve_operator', 'mcp_approve_auditor'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        END IF;
    END LOOP;
END $$;

CREATE TABLE IF NOT EXISTS mcp_approve.version (
    number integer PRIMARY KEY,
    made   timestamptz NOT NULL DEFAULT now()
);
-- The desk's own name, given by chance. What operators sign of all logs names it: it counts on no other desk, nor once this is changed.
ALTER TABLE mcp_approve.version ADD COLUMN IF NOT EXISTS desk uuid NOT NULL DEFAULT gen_random_uuid();
INSERT INTO mcp_approve.version (number) VALUES (1) ON CONFLICT DO NOTHING;

-- What wrappers say to consoles: that one is there, a card (its arguments redacted), how its call ended, that one is gone. Readers go
-- by `xid`: `place` alone would miss a row whose transaction ends after that of a later one.
CREATE TABLE IF NOT EXISTS mcp_approve.told (
    place   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid     xid8 NOT NULL DEFAULT pg_current_xact_id(),
    time    timestamptz NOT NULL DEFAULT now(),
    machine text NOT NULL DEFAULT session_user,
    session text NOT NULL CHECK (length(session) BETWEEN 1 AND 64),
    ticket  text NOT NULL CHECK (length(ticket) <= 128),     -- '' where it is about no call
    kind    text NOT NULL CHECK (kind IN ('hello', 'held', 'settled', 'refused', 'status', 'gone')),
    said    text NOT NULL CHECK (length(said) <= 1048576)    -- the link's message, as JSON
);
CREATE INDEX IF NOT EXISTS told_new ON mcp_approve.told (xid, machine);
CREATE INDEX IF NOT EXISTS told_role ON mcp_approve.told (machine, xid, place);
DROP INDEX IF EXISTS mcp_approve.told_xid;
CREATE INDEX IF NOT EXISTS told_call ON mcp_approve.told (machine, session, ticket, place) INCLUDE (kind);
CREATE INDEX IF NOT EXISTS told_here ON mcp_approve.told (machine, session, place) INCLUDE (kind) WHERE ticket = '';

-- What operators say of a call, signed. The wrapper that holds the call checks it; here nothing is checked but that a row is whole.
CREATE TABLE IF NOT EXISTS mcp_approve.verdict (
    place     bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    xid       xid8 NOT NULL DEFAULT pg_current_xact_id(),
    time      timestamptz NOT NULL DEFAULT now(),
    operator  text NOT NULL DEFAULT session_user,
    machine   text NOT NULL,
    session   text NOT NULL,
    ticket    text NOT NULL,
    principal text NOT NULL,
    digest    bytea NOT NULL CHECK (digest = sha256(convert_to(statement, 'UTF8'))),
    statement text NOT NULL CHECK (length(statement) <= 65536),
    signature text NOT NULL CHECK (length(signature) <= 16384),
    said      text NOT NULL CHECK (length(said) <= 65536),   -- the link's message without the signature, as JSON
    -- With the role that wrote it: whoever has another role takes nobody's place.
    PRIMARY KEY (machine, session, ticket, principal, digest, operator)
);
-- Read role by role, so that what one role fills a table with delays no other's rows; and so are the others.
CREATE INDEX IF NOT EXISTS verdict_role ON mcp_approve.verdict (machine, session, operator, xid, place);

-- Who looks at a call: the others see it, and nothing else follows from it.
CREATE TABLE IF NOT EXISTS mcp_approve.look (
    place    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid      xid8 NOT NULL DEFAULT pg_current_xact_id(),
    time     timestamptz NOT NULL DEFAULT now(),
    operator text NOT NULL DEFAULT session_user,
    machine  text NOT NULL,
    session  text NOT NULL,
    ticket   text NOT NULL
);
CREATE INDEX IF NOT EXISTS look_role ON mcp_approve.look (operator, place);
DROP INDEX IF EXISTS mcp_approve.look_xid;

-- The words that many records have in common, once for all that have them: `words` is a JSON array of the eight, in the order of the
-- columns that are read from it. Its name is made of it, so that no row can stand for other words than its own. Each machine has
-- rows of its own: two that write the same one would wait for each other.
CREATE TABLE IF NOT EXISTS mcp_approve.shape (
    machine text NOT NULL DEFAULT session_user,
    shape   bytea NOT NULL CHECK (shape = substr(sha256(convert_to(words, 'UTF8')), 1, 16)),
    words   text NOT NULL,
    server  text GENERATED ALWAYS AS (words::jsonb ->> 0) STORED,
    tool    text GENERATED ALWAYS AS (words::jsonb ->> 1) STORED,
    kind    text GENERATED ALWAYS AS (words::jsonb ->> 2) STORED,
    badge   text GENERATED ALWAYS AS (words::jsonb ->> 3) STORED,
    ruling  text GENERATED ALWAYS AS (words::jsonb ->> 4) STORED,
    verdict text GENERATED ALWAYS AS (words::jsonb ->> 5) STORED,
    by      text GENERATED ALWAYS AS (words::jsonb ->> 6) STORED,
    rule    text GENERATED ALWAYS AS (words::jsonb ->> 7) STORED,
    PRIMARY KEY (machine, shape)
);

-- The logs of all machines, a row for each record, as its machine has it; a log that was forked has two rows of one `seq`, and both
-- stay. Partitioned by the month of the record's own time, so that old months can be dropped whole, once a witness has seen them. `shape`, `session` and `ticket`
-- are the body's, in lower case and cut, to be searched by: the body is what counts.
CREATE TABLE IF NOT EXISTS mcp_approve.record (
    place   bigint GENERATED ALWAYS AS IDENTITY,
    machine text NOT NULL DEFAULT session_user,
    seq     bigint NOT NULL,
    writer  bytea NOT NULL,
    body    text NOT NULL,
    raw     bytea CHECK (raw IS NULL OR body = ''),          -- the body, where its bytes cannot be a text
    link    bytea NOT NULL,
    time    timestamptz NOT NULL,                            -- 1970, where the body does not say
    shape   bytea CHECK (length(shape) = 16),                -- these are missing where the body cannot be read
    session text CHECK (length(session) <= 128),
    ticket  text CHECK (length(ticket) <= 128),
    UNIQUE (machine, seq, link, time)
) PARTITION BY RANGE (time);
CREATE INDEX IF NOT EXISTS record_place ON mcp_approve.record (place);
CREATE INDEX IF NOT EXISTS record_machine ON mcp_approve.record (machine, place);
CREATE INDEX IF NOT EXISTS record_shape ON mcp_approve.record (shape, place);
CREATE INDEX IF NOT EXISTS record_session ON mcp_approve.record (session, place);
CREATE INDEX IF NOT EXISTS record_ticket ON mcp_approve.record (ticket, place) WHERE ticket IS NOT NULL;
CREATE TABLE IF NOT EXISTS mcp_approve.record_other PARTITION OF mcp_approve.record DEFAULT;

-- The end of a machine's log as the machine had it at a moment: the latest must be in what it has sent, or its log went back.
CREATE TABLE IF NOT EXISTS mcp_approve.head (
    place   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time    timestamptz NOT NULL DEFAULT now(),
    machine text NOT NULL DEFAULT session_user,
    seq     bigint NOT NULL,
    link    bytea NOT NULL
);
CREATE INDEX IF NOT EXISTS head_machine ON mcp_approve.head (machine, place);

-- Heads of all machines, signed by an operator: a checkpoint in the form of a C2SP signed note.
CREATE TABLE IF NOT EXISTS mcp_approve.witness (
    place     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time      timestamptz NOT NULL DEFAULT now(),
    operator  text NOT NULL DEFAULT session_user,
    note      text NOT NULL
);
CREATE INDEX IF NOT EXISTS witness_role ON mcp_approve.witness (operator, place);

-- Signed statements that all machines read: a stop and its end; a sign of life; what a team has agreed to.
CREATE TABLE IF NOT EXISTS mcp_approve.standing (
    place     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid       xid8 NOT NULL DEFAULT pg_current_xact_id(),
    time      timestamptz NOT NULL DEFAULT now(),
    operator  text NOT NULL DEFAULT session_user,
    kind      text NOT NULL CHECK (kind IN ('stop', 'alive', 'team')),
    statement text NOT NULL CHECK (length(statement) <= 65536),
    signature text NOT NULL CHECK (length(signature) <= 16384),
    said      text NOT NULL DEFAULT '' CHECK (length(said) <= 1048576)   -- of a team: the text that the statement names by its digest
);
CREATE INDEX IF NOT EXISTS standing_kind ON mcp_approve.standing (kind, place);
CREATE INDEX IF NOT EXISTS standing_role ON mcp_approve.standing (kind, operator, xid, place);

-- No text is longer than those who read it expect, and no time is beyond all months. For rows from now on: a desk that was made before may
-- have others.
DO $$
DECLARE
    rule text[];
    rules text[][] := ARRAY[
        ['record', 'short_body', 'octet_length(body) <= 4194304'],
        ['told', 'short_said', 'octet_length(said) <= 1048576'],
        ['verdict', 'short_said', 'octet_length(statement) <= 65536 AND octet_length(signature) <= 16384 AND octet_length(said) <= 65536'],
        ['standing', 'short_said', 'octet_length(statement) <= 65536 AND octet_length(signature) <= 16384 AND octet_length(said) <= 1048576'],
        ['verdict', 'short_names', 'greatest(octet_length(machine), octet_length(session), octet_length(ticket), octet_length(principal)) <= 1024'],
        ['look', 'short_names', 'greatest(octet_length(machine), octet_length(session), octet_length(ticket)) <= 1024'],
        ['head', 'short_link', 'octet_length(link) <= 64'],
        ['record', 'short_names', 'greatest(octet_length(writer), octet_length(link)) <= 64'],
        ['record', 'short_raw', 'octet_length(raw) <= 4194304'],
        ['record', 'finite_time', 'isfinite(time)'],
        ['shape', 'short_words', 'octet_length(words) <= 65536'],
        ['witness', 'short_note', 'octet_length(note) <= 1048576']
    ];
BEGIN
    FOREACH rule SLICE 1 IN ARRAY rules LOOP
        IF NOT EXISTS (
            SELECT FROM pg_constraint WHERE conname = rule[2] AND conrelid = format('mcp_approve.%I', rule[1])::regclass
        ) THEN
            EXECUTE format('ALTER TABLE mcp_approve.%I ADD CONSTRAINT %I CHECK (%s) NOT VALID', rule[1], rule[2], rule[3]);
        END IF;
    END LOOP;
END $$;

-- What each role may do. No column that says who wrote a row, or when, can be given.
REVOKE ALL ON ALL TABLES IN SCHEMA mcp_approve FROM PUBLIC, mcp_approve_machine, mcp_approve_operator, mcp_approve_auditor;
GRANT USAGE ON SCHEMA mcp_approve TO mcp_approve_machine, mcp_approve_operator, mcp_approve_auditor;
GRANT SELECT ON mcp_approve.version TO mcp_approve_machine, mcp_approve_operator, mcp_approve_auditor;

GRANT INSERT (session, ticket, kind, said) ON mcp_approve.told TO mcp_approve_machine;
GRANT SELECT ON mcp_approve.verdict TO mcp_approve_machine;
GRANT INSERT (shape, words) ON mcp_approve.shape TO mcp_approve_machine;
GRANT INSERT (seq, writer, body, raw, link, time, shape, session, ticket) ON mcp_approve.record TO mcp_approve_machine;
GRANT SELECT (machine, seq, link) ON mcp_approve.record TO mcp_approve_machine;
GRANT INSERT (seq, link) ON mcp_approve.head TO mcp_approve_machine;
GRANT SELECT ON mcp_approve.standing TO mcp_approve_machine;

GRANT SELECT ON mcp_approve.told, mcp_approve.look, mcp_approve.shape, mcp_approve.record, mcp_approve.head, mcp_approve.witness,
    mcp_approve.standing TO mcp_approve_operator;
GRANT INSERT (machine, session, ticket, principal, digest, statement, signature, said) ON mcp_approve.verdict TO mcp_approve_operator;
GRANT INSERT (machine, session, ticket) ON mcp_approve.look TO mcp_approve_operator;
GRANT INSERT (note) ON mcp_approve.witness TO mcp_approve_operator;
GRANT INSERT (kind, statement, signature, said) ON mcp_approve.standing TO mcp_approve_operator;

GRANT SELECT ON mcp_approve.told, mcp_approve.verdict, mcp_approve.look, mcp_approve.shape, mcp_approve.record, mcp_approve.head,
    mcp_approve.witness, mcp_approve.standing TO mcp_approve_auditor;

-- Which rows each role sees and adds. FORCE: the owner of the tables is held to it too. `version` is no secret, and its grants are enough.
DO $$
DECLARE
    rule text[];
    rules text[][] := ARRAY[
        -- table, role, what, which rows
        ['told', 'mcp_approve_machine', 'INSERT', 'machine = session_user'],
        ['told', 'mcp_approve_operator', 'SELECT', 'true'],
        ['told', 'mcp_approve_auditor', 'SELECT', 'true'],
        ['verdict', 'mcp_approve_machine', 'SELECT', 'machine = session_user'],
        ['verdict', 'mcp_approve_operator', 'INSERT', 'operator = session_user'],
        ['verdict', 'mcp_approve_auditor', 'SELECT', 'true'],
        ['look', 'mcp_approve_operator', 'INSERT', 'operator = session_user'],
        ['look', 'mcp_approve_operator', 'SELECT', 'true'],
        ['look', 'mcp_approve_auditor', 'SELECT', 'true'],
        ['shape', 'mcp_approve_machine', 'INSERT', 'machine = session_user'],
        ['shape', 'mcp_approve_operator', 'SELECT', 'true'],
        ['shape', 'mcp_approve_auditor', 'SELECT', 'true'],
        ['record', 'mcp_approve_machine', 'INSERT', 'machine = session_user'],
        ['record', 'mcp_approve_machine', 'SELECT', 'machine = session_user'],
        ['record', 'mcp_approve_operator', 'SELECT', 'true'],
        ['record', 'mcp_approve_auditor', 'SELECT', 'true'],
        ['head', 'mcp_approve_machine', 'INSERT', 'machine = session_user'],
        ['head', 'mcp_approve_operator', 'SELECT', 'true'],
        ['head', 'mcp_approve_auditor', 'SELECT', 'true'],
        ['witness', 'mcp_approve_operator', 'INSERT', 'operator = session_user'],
        ['witness', 'mcp_approve_operator', 'SELECT', 'true'],
        ['witness', 'mcp_approve_auditor', 'SELECT', 'true'],
        ['standing', 'mcp_approve_machine', 'SELECT', 'true'],
        ['standing', 'mcp_approve_operator', 'INSERT', 'operator = session_user'],
        ['standing', 'mcp_approve_operator', 'SELECT', 'true'],
        ['standing', 'mcp_approve_auditor', 'SELECT', 'true']
    ];
    named text;
BEGIN
    FOREACH rule SLICE 1 IN ARRAY rules LOOP
        named := format('%s_%s', lower(rule[3]), replace(lower(rule[2]), 'mcp_approve_', ''));
        EXECUTE format('ALTER TABLE mcp_approve.%I ENABLE ROW LEVEL SECURITY', rule[1]);
        EXECUTE format('ALTER TABLE mcp_approve.%I FORCE ROW LEVEL SECURITY', rule[1]);
        EXECUTE format('DROP POLICY IF EXISTS %I ON mcp_approve.%I', named, rule[1]);
        EXECUTE format(
            'CREATE POLICY %I ON mcp_approve.%I FOR %s TO %s %s (%s)',
            named, rule[1], rule[3], rule[2], CASE rule[3] WHEN 'INSERT' THEN 'WITH CHECK' ELSE 'USING' END, rule[4]
        );
    END LOOP;
END $$;

-- A partition for each month from the last one to two years ahead; a later `desk init` makes the next.
DO $$
DECLARE
    month date := date_trunc('month', now() - interval '1 month');
BEGIN
    FOR i IN 0..25 LOOP
        EXECUTE format(
            'CREATE TABLE IF NOT EXISTS mcp_approve.%I PARTITION OF mcp_approve.record FOR VALUES FROM (%L) TO (%L)',
            'record_' || to_char(month, 'YYYY_MM'), month::timestamptz, (month + interval '1 month')::timestamptz
        );
        month := month + interval '1 month';
    END LOOP;
END $$;

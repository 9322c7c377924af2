-- What the operator agreed to, in pins.db (new in schema version 4). A row counts only while the log has its record (audit.db, table agreed).
CREATE TABLE agreed (
    fingerprint TEXT NOT NULL,          -- of the server's command line; '' for a key of _meta
    digest      TEXT NOT NULL,          -- of all that is agreed to, as its record has it
    what        TEXT NOT NULL,          -- value, kind, folder, host …
    tool        TEXT NOT NULL,          -- '' where it is about the whole server
    key         TEXT NOT NULL,
    schema      TEXT NOT NULL,          -- digest of the parameter's schema
    value       TEXT NOT NULL,
    since       INTEGER NOT NULL,
    used        INTEGER NOT NULL,       -- day of its last use: days since 1970, UTC
    PRIMARY KEY (fingerprint, digest)
) WITHOUT ROWID;

-- The index of an audit log, schema version 3 (PRAGMA user_version). It can be removed at any time and is made anew.
CREATE TABLE word (                     -- what many records have in common
    number INTEGER PRIMARY KEY,         -- from 1
    list   TEXT NOT NULL,               -- 'shape' or 'session'
    text   TEXT NOT NULL,               -- of a shape: a JSON array of texts
    UNIQUE (list, text)
) STRICT;
CREATE TABLE record (
    seq     INTEGER PRIMARY KEY,        -- from 1 without gaps
    shape   INTEGER NOT NULL,           -- 0: it cannot be read, or there are too many words; it is always looked at
    session INTEGER NOT NULL,
    ticket  INTEGER,                    -- a number for its text in lower case
    time    INTEGER                     -- milliseconds since 1970, UTC
) STRICT;
CREATE INDEX by_shape ON record (shape);
CREATE INDEX by_call ON record (session, ticket);
CREATE TABLE note (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;

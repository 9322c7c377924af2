-- The index of an audit log, schema version 2 (PRAGMA user_version). It can be removed at any time and is made anew.
CREATE TABLE word (                     -- what many records have in common, as JSON; numbered from 0
    number INTEGER PRIMARY KEY,
    list   TEXT NOT NULL,               -- 'shape' or 'session'
    at     INTEGER NOT NULL,
    text   TEXT NOT NULL,
    UNIQUE (list, at)
);
CREATE TABLE segment (                  -- 4,096 records; columns are little-endian numbers, one for each record
    number   INTEGER PRIMARY KEY,       -- from 0: records number * 4096 + 1 and on
    link     BLOB NOT NULL,             -- of its last record: that the index is of this log
    earliest INTEGER NOT NULL,
    latest   INTEGER NOT NULL,
    shapes   BLOB NOT NULL,
    sessions BLOB NOT NULL,
    times    BLOB NOT NULL,
    tickets  BLOB NOT NULL,
    figures  BLOB NOT NULL
);
CREATE TABLE piece (                    -- which blocks of a segment hold a piece of text, 1,000 masks a row
    row   INTEGER PRIMARY KEY,
    masks BLOB NOT NULL
);
CREATE TABLE note (name TEXT PRIMARY KEY, text TEXT NOT NULL);

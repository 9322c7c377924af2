-- What is remembered of servers and their tools between sessions, schema version 5 (PRAGMA user_version). Unlike the
-- audit log it changes: a review replaces what is trusted. Times are milliseconds since 1970, UTC.
CREATE TABLE server (
    fingerprint TEXT NOT NULL,          -- of the command line, 64 hex characters
    name        TEXT NOT NULL,          -- in rules and tickets
    command     TEXT NOT NULL,          -- the program and what it runs, for people
    package     TEXT,                   -- npm:NAME or pypi:NAME, where it is certain
    trust       TEXT NOT NULL,
    program     TEXT NOT NULL,          -- the files that were run last, with their digests
    trusted     TEXT,                   -- the files that are trusted; null: nobody has accepted this command yet
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    words       TEXT,                   -- the whole command line without its secrets: a JSON list
    PRIMARY KEY (fingerprint, name)
);
CREATE TABLE tool (
    id          INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    name        TEXT NOT NULL,
    shape       TEXT NOT NULL,          -- what the name looks like (UTS #39)
    version     INTEGER NOT NULL,       -- one more with every change of the definition
    latest      TEXT NOT NULL,          -- digest of the definition seen last
    trusted     TEXT,                   -- digest of the definition that is trusted
    refused     TEXT,                   -- digest of the definition that the operator refused
    identity    TEXT,                   -- what the trusted definition was concluded to be
    said        TEXT,                   -- what the operator says that the trusted definition is
    added       INTEGER NOT NULL DEFAULT 0, -- 1: its server added it after its first session
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    UNIQUE (fingerprint, name)
);
CREATE TABLE definition (digest TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE file (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, digest TEXT NOT NULL);

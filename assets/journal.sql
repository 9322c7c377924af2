-- A wrapper's journal, schema version 2: its entries until they are in the log. SQLite's exclusive lock on the file says
-- that its wrapper lives.
CREATE TABLE entry (                               -- a row for each commit; version 1 had a row for each entry
    n    INTEGER PRIMARY KEY CHECK (n > 0),        -- of its first entry; entries are numbered without gaps
    body TEXT NOT NULL,                            -- canonical JSON, a line for each entry
    link BLOB NOT NULL CHECK (length(link) = 32)   -- of its last entry: H(2 ‖ previous link ‖ n ‖ writer ‖ H(0 ‖ body))
);
-- The entry before the first one in the file, which is linked to it. Earlier versions emptied a journal and went on there.
CREATE TABLE base (
    n    INTEGER NOT NULL,
    link BLOB NOT NULL CHECK (length(link) = 32)
);

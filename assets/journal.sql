-- A wrapper's journal, schema version 1: its entries until they are in the log. SQLite's exclusive lock on the file says
-- that its wrapper lives.
CREATE TABLE entry (
    n    INTEGER PRIMARY KEY CHECK (n > 0),        -- without gaps
    body TEXT NOT NULL,                            -- canonical JSON, one line
    link BLOB NOT NULL CHECK (length(link) = 32)   -- H(2 ‖ previous link ‖ n ‖ writer ‖ H(0 ‖ body))
);
-- The last entry that was in the log when the file was emptied: the first one in it is linked to that.
CREATE TABLE base (
    n    INTEGER NOT NULL,
    link BLOB NOT NULL CHECK (length(link) = 32)
);

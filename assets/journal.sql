-- A wrapper's journal, schema version 1: its entries until they are in the log. One file for each run of one wrapper, or
-- several one after the other; SQLite's exclusive lock on it says that its wrapper lives.
CREATE TABLE entry (
    n    INTEGER PRIMARY KEY CHECK (n > 0),        -- from 1 without gaps
    body TEXT NOT NULL,                            -- canonical JSON, one line
    link BLOB NOT NULL CHECK (length(link) = 32)   -- H(2 ‖ previous link ‖ n ‖ writer ‖ H(0 ‖ body))
);

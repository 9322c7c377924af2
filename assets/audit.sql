-- The audit log, schema version 3 (PRAGMA user_version). One table of records, one chain for all wrappers.
-- Nothing is ever changed or removed: the triggers refuse it to honest mistakes, the chain shows it of anything else.
CREATE TABLE record (
    seq    INTEGER PRIMARY KEY CHECK (seq > 0),           -- place in the chain, from 1 without gaps
    writer BLOB NOT NULL CHECK (length(writer) = 16),     -- random name of the journal it came from
    body   TEXT NOT NULL,                                 -- canonical JSON, one line
    link   BLOB NOT NULL CHECK (length(link) = 32)        -- H(1 ‖ previous link ‖ seq ‖ writer ‖ H(0 ‖ body))
);
CREATE TRIGGER record_is_not_changed BEFORE UPDATE ON record
BEGIN SELECT raise(ABORT, 'the audit log has no update'); END;
CREATE TRIGGER record_is_not_removed BEFORE DELETE ON record
BEGIN SELECT raise(ABORT, 'the audit log has no delete'); END;
CREATE TRIGGER record_is_not_replaced BEFORE INSERT ON record WHEN EXISTS (SELECT 1 FROM record WHERE seq = new.seq)
BEGIN SELECT raise(ABORT, 'the audit log has no update'); END;

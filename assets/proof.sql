-- The latest record about each agreement (new in schema version 3), and of each text that records name. No record: it only finds
-- the record, which is the proof.
CREATE TABLE agreed (
    digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
    seq    INTEGER NOT NULL CHECK (seq > 0)
) WITHOUT ROWID;

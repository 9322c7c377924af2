-- Up to which entry each journal is in the log (new in schema version 2). No record: it only keeps entries from being
-- folded twice, and is forgotten once the journal's file is gone.
CREATE TABLE fold (
    writer BLOB PRIMARY KEY CHECK (length(writer) = 16),
    upto   INTEGER NOT NULL CHECK (upto > 0)
) WITHOUT ROWID;

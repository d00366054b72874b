-- The audit records of requests that have changed the registry and are still under way, as
-- JSON objects. The end of a request moves its record to audit; the next start moves those
-- of requests that the end of the process cut off.
CREATE TABLE audit_draft (
    key    TEXT PRIMARY KEY,
    record TEXT NOT NULL CHECK (json_valid(record))
) STRICT, WITHOUT ROWID;

-- The moment of the parent's past that a version was asked to begin with; NULL for the newest data.
ALTER TABLE versions ADD COLUMN parent_at INTEGER;

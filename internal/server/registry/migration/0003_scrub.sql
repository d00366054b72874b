-- The version that began with production's data and made scrubbing necessary:
-- the version itself or an ancestor, '' for none.
ALTER TABLE versions ADD COLUMN scrub_id TEXT NOT NULL DEFAULT '';

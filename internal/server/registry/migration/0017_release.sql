-- Releases. events: which events of its own reach a version that is not production ('' for
-- messages and workflows, 'off', 'handed_over'). released_from: the candidate of the release that
-- made the version. handed_over_to: the version that continues with the data.
ALTER TABLE versions ADD COLUMN events TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN released_from TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN handed_over_to TEXT NOT NULL DEFAULT '';

-- A release is a promotion of its own kind. released is a JSON object (svc.Released).
ALTER TABLE promotions ADD COLUMN kind TEXT NOT NULL DEFAULT 'promote';
ALTER TABLE promotions ADD COLUMN candidate_id TEXT NOT NULL DEFAULT '';
ALTER TABLE promotions ADD COLUMN released TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(released));

-- The watch over a release that is done, a JSON object (svc.Watch).
ALTER TABLE promotions ADD COLUMN watch TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(watch));

-- Settings of projects: whether a promote may leave writes behind unasked, and whether requests
-- and events may write.
ALTER TABLE projects ADD COLUMN guard INTEGER NOT NULL DEFAULT 0;
ALTER TABLE projects ADD COLUMN read_only INTEGER NOT NULL DEFAULT 0;

-- The migrations that the deploy of a version applied, as a JSON array of "<binding>/<name>", and
-- how long all of them took, in microseconds.
ALTER TABLE versions ADD COLUMN migrations TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(migrations));
ALTER TABLE versions ADD COLUMN migrated_us INTEGER NOT NULL DEFAULT 0;

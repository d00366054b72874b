-- Whether the databases of a version are scrubbed before it serves.
ALTER TABLE versions ADD COLUMN scrub INTEGER NOT NULL DEFAULT 0 CHECK (scrub IN (0, 1));

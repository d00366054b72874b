-- When everything that a destroyed version had outside this file was removed;
-- NULL until then, so that a removal that was cut off is found and repeated.
ALTER TABLE versions ADD COLUMN purged_at INTEGER;

CREATE INDEX versions_unpurged ON versions (seq) WHERE status = 'destroyed' AND purged_at IS NULL;

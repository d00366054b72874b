-- Since when a ready version has no processes because nothing asked for it, and when it
-- must run for work of its own.
ALTER TABLE versions ADD COLUMN asleep_at INTEGER;
ALTER TABLE versions ADD COLUMN wake_at INTEGER;

-- Whether a pin is that of a previous production, which the next promote may release.
-- A person's pin has 0.
ALTER TABLE versions ADD COLUMN pin_auto INTEGER NOT NULL DEFAULT 0 CHECK (pin_auto IN (0, 1) AND pin_auto <= pinned);

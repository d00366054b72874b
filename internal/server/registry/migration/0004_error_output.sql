-- What the worker of a failed version printed last, '' for nothing. Before, it
-- followed the error itself.
ALTER TABLE versions ADD COLUMN error_output TEXT NOT NULL DEFAULT '';

-- Labels of versions: what a pipeline writes to find and clean up what it made.
CREATE TABLE version_labels (
    version_seq INTEGER NOT NULL REFERENCES versions (seq),
    key         TEXT    NOT NULL,
    value       TEXT    NOT NULL,
    PRIMARY KEY (version_seq, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_labels_found ON version_labels (key, value, version_seq);

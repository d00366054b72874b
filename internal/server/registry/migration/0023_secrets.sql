-- Sealed secrets of projects (SVC_SECRETS_KEY): AES-256-GCM by the key key_id, bound to project, name
-- and class. before is the value before the last change. No value is stored in any other form.
CREATE TABLE secrets (
    project_id    TEXT    NOT NULL REFERENCES projects (id),
    name          TEXT    NOT NULL,
    class         TEXT    NOT NULL CHECK (class IN ('release', 'preview')),
    key_id        TEXT    NOT NULL,
    sealed        BLOB    NOT NULL,
    before_key_id TEXT,
    before_sealed BLOB,
    updated_at    INTEGER NOT NULL,
    updated_by    TEXT    NOT NULL,
    PRIMARY KEY (project_id, name, class),
    CHECK ((before_key_id IS NULL) = (before_sealed IS NULL))
) STRICT, WITHOUT ROWID;

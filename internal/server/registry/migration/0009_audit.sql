-- Who changed what by the API. Rows are only ever added: the triggers stop every
-- statement that would change or remove one.
CREATE TABLE audit (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    created_at  INTEGER NOT NULL,
    role        TEXT    NOT NULL,
    token       TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    actor       TEXT    NOT NULL,
    client      TEXT    NOT NULL,
    action      TEXT    NOT NULL,
    project_id  TEXT    NOT NULL,
    version_id  TEXT    NOT NULL,
    status      INTEGER NOT NULL,
    before      TEXT    NOT NULL CHECK (json_valid(before)),
    after       TEXT    NOT NULL CHECK (json_valid(after)),
    reason      TEXT    NOT NULL,
    request_id  TEXT    NOT NULL
) STRICT;

CREATE INDEX audit_created ON audit (created_at);
CREATE INDEX audit_project ON audit (project_id, version_id);

CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit record is append-only');
END;

CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit record is append-only');
END;

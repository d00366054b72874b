-- Own host names of projects. Many projects may ask for a host, one has it: the index decides a race.
CREATE TABLE domains (
    host       TEXT    NOT NULL, -- in lower case; '*.' and a domain for all hosts one label below it
    project_id TEXT    NOT NULL REFERENCES projects (id),
    target     TEXT    NOT NULL DEFAULT '', -- a version or a preview name; '' for production
    redirect   TEXT    NOT NULL DEFAULT '', -- the host of the same project that visitors are sent to
    proof      TEXT    NOT NULL DEFAULT '' CHECK (proof IN ('', 'dns', 'operator')),
    created_at INTEGER NOT NULL,
    proved_at  INTEGER,
    checked_at INTEGER,
    missing_at INTEGER, -- since when the DNS text of a proved host is missing
    PRIMARY KEY (host, project_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX domains_owner ON domains (host) WHERE proved_at IS NOT NULL;
CREATE INDEX domains_project ON domains (project_id);

CREATE TABLE idempotency (
    project_id TEXT    NOT NULL REFERENCES projects (id),
    key        TEXT    NOT NULL,
    body_hash  TEXT    NOT NULL,
    version_id TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_created ON idempotency (created_at);

CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    version_seq INTEGER NOT NULL UNIQUE REFERENCES versions (seq),
    attempt     INTEGER NOT NULL DEFAULT 0,
    run_at      INTEGER NOT NULL,
    owner       TEXT,
    lease_until INTEGER,
    created_at  INTEGER NOT NULL,
    CHECK ((owner IS NULL) = (lease_until IS NULL))
) STRICT;

CREATE TABLE projects (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT    NOT NULL UNIQUE,
    git_remote      TEXT    NOT NULL,
    prod_version_id TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    FOREIGN KEY (id, prod_version_id) REFERENCES versions (project_id, id)
) STRICT;

CREATE TABLE promotion_journal (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    promotion_seq INTEGER NOT NULL REFERENCES promotions (seq),
    step          TEXT    NOT NULL,
    phase         TEXT    NOT NULL CHECK (phase IN ('started', 'done', 'failed', 'undone')),
    detail        TEXT    NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX promotion_journal_promotion ON promotion_journal (promotion_seq);

CREATE TABLE promotions (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,
    project_id  TEXT    NOT NULL REFERENCES projects (id),
    version_id  TEXT    NOT NULL,
    previous_id TEXT,
    reason      TEXT    NOT NULL,
    status      TEXT    NOT NULL CHECK (status IN ('running', 'done', 'failed', 'unchanged')),
    error       TEXT    NOT NULL DEFAULT '',
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    FOREIGN KEY (project_id, version_id) REFERENCES versions (project_id, id),
    FOREIGN KEY (project_id, previous_id) REFERENCES versions (project_id, id),
    CHECK ((status = 'running') = (finished_at IS NULL))
) STRICT;

CREATE INDEX promotions_project ON promotions (project_id);

CREATE UNIQUE INDEX promotions_running ON promotions (project_id) WHERE status = 'running';

CREATE TABLE timeline (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    version_seq INTEGER NOT NULL REFERENCES versions (seq),
    step        TEXT    NOT NULL,
    status      TEXT    NOT NULL CHECK (status IN ('running', 'done', 'failed')),
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    detail      TEXT    NOT NULL DEFAULT '',
    CHECK ((status = 'running') = (ended_at IS NULL))
) STRICT;

CREATE UNIQUE INDEX timeline_open ON timeline (version_seq) WHERE ended_at IS NULL;

CREATE INDEX timeline_version ON timeline (version_seq);

CREATE TABLE version_env (
    version_seq INTEGER NOT NULL REFERENCES versions (seq),
    key         TEXT    NOT NULL,
    value       TEXT    NOT NULL,
    PRIMARY KEY (version_seq, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE version_warnings (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    version_seq INTEGER NOT NULL REFERENCES versions (seq),
    text        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE INDEX version_warnings_version ON version_warnings (version_seq);

CREATE TABLE versions (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id      TEXT    NOT NULL REFERENCES projects (id),
    id              TEXT    NOT NULL,
    parent_id       TEXT,
    git_ref         TEXT    NOT NULL,
    git_sha         TEXT    NOT NULL,
    digest          TEXT    NOT NULL,
    asked_digest    TEXT    NOT NULL, -- as the client gave it, to know a repeated create
    asked_hash      TEXT    NOT NULL, -- of parent and env as the client gave them
    status          TEXT    NOT NULL CHECK (status IN (
        'pending', 'fetching', 'branching', 'preparing', 'deploying', 'deploy_ready',
        'ready', 'draining', 'archived', 'failed', 'destroyed')),
    error           TEXT    NOT NULL DEFAULT '',
    fork_txid       TEXT    NOT NULL DEFAULT '',
    pinned          INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    size_bytes      INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    ready_at        INTEGER,
    woken_at        INTEGER,
    last_request_at INTEGER, purged_at INTEGER, scrub_id TEXT NOT NULL DEFAULT '', error_output TEXT NOT NULL DEFAULT '',
    UNIQUE (project_id, id), -- for ever: destroyed versions keep their row
    FOREIGN KEY (project_id, parent_id) REFERENCES versions (project_id, id)
) STRICT;

CREATE INDEX versions_listed ON versions (project_id) WHERE status <> 'destroyed';

CREATE INDEX versions_parent ON versions (project_id, parent_id) WHERE parent_id IS NOT NULL;

CREATE INDEX versions_project ON versions (project_id, status);

CREATE INDEX versions_status ON versions (status);

CREATE INDEX versions_unpurged ON versions (seq) WHERE status = 'destroyed' AND purged_at IS NULL;


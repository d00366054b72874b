CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit record is append-only');
END;

CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit record is append-only');
END;

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

CREATE TABLE audit_draft (
    key    TEXT PRIMARY KEY,
    record TEXT NOT NULL CHECK (json_valid(record))
) STRICT, WITHOUT ROWID;

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

CREATE TABLE events (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    type       TEXT    NOT NULL,
    project_id TEXT    NOT NULL DEFAULT '',
    version_id TEXT    NOT NULL DEFAULT '',
    data       TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(data)),
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX events_created ON events (created_at);

CREATE TABLE idempotency (
    project_id TEXT    NOT NULL REFERENCES projects (id),
    key        TEXT    NOT NULL,
    body_hash  TEXT    NOT NULL,
    version_id TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_created ON idempotency (created_at);

CREATE TRIGGER event_job_added AFTER INSERT ON jobs BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at)
        SELECT 'queue.depth', project_id, id, json_object('depth', (SELECT count(*) FROM jobs)), NEW.created_at
        FROM versions WHERE seq = NEW.version_seq;
END;

CREATE TRIGGER event_job_removed AFTER DELETE ON jobs BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at)
        SELECT 'queue.depth', project_id, id, json_object('depth', (SELECT count(*) FROM jobs)), CAST(unixepoch('subsec') * 1000 AS INTEGER)
        FROM versions WHERE seq = OLD.version_seq;
END;

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

CREATE INDEX jobs_due ON jobs (run_at) WHERE lease_until IS NULL;

CREATE INDEX jobs_leased ON jobs (lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE preview_env (
    project_id TEXT NOT NULL REFERENCES projects (id),
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    PRIMARY KEY (project_id, key)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER event_production AFTER UPDATE OF prod_version_id ON projects
WHEN NEW.prod_version_id IS NOT OLD.prod_version_id BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at) VALUES ('project.production', NEW.id, coalesce(NEW.prod_version_id, ''),
        json_object('previous', coalesce(OLD.prod_version_id, '')), NEW.updated_at);
END;

CREATE TRIGGER event_project_created AFTER INSERT ON projects BEGIN
    INSERT INTO events (type, project_id, created_at) VALUES ('project.created', NEW.id, NEW.created_at);
END;

CREATE TRIGGER event_project_deleted AFTER UPDATE OF deleted_at ON projects
WHEN NEW.deleted_at IS NOT OLD.deleted_at BEGIN
    INSERT INTO events (type, project_id, created_at) VALUES (
        CASE WHEN NEW.deleted_at IS NULL THEN 'project.created' ELSE 'project.deleted' END, NEW.id, NEW.updated_at);
END;

CREATE TABLE projects (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT    NOT NULL UNIQUE,
    git_remote      TEXT    NOT NULL,
    prod_version_id TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    -- What the first version of a preview name begins with: the id of a version, '' for nothing.
    preview_parent  TEXT    NOT NULL DEFAULT '',
    -- When the project was deleted. Its row and the ids of its versions stay: a project that is
    -- created again under the id continues with them, so that no id is used twice.
    deleted_at      INTEGER,
    guard           INTEGER NOT NULL DEFAULT 0, -- whether a promote may not leave writes behind unasked
    read_only       INTEGER NOT NULL DEFAULT 0, -- whether requests and events may not write
    -- The name of the worker whose name became the id of the project, as its project file has it:
    -- my_app and my-app are one id. '' if it is not known.
    worker_name     TEXT    NOT NULL DEFAULT '',
    -- The namespace of Durable Objects (svc.ObjectNamespace). A version takes that of its parent, a
    -- root that of its project.
    object_namespace TEXT   NOT NULL DEFAULT '',
    FOREIGN KEY (id, prod_version_id) REFERENCES versions (project_id, id)
) STRICT;

CREATE TRIGGER event_promotion_step AFTER INSERT ON promotion_journal BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at)
        SELECT 'promotion.step', project_id, version_id,
            json_object('operation_id', id, 'step', NEW.step, 'step_status', NEW.phase, 'detail', NEW.detail), NEW.created_at
        FROM promotions WHERE seq = NEW.promotion_seq;
END;

CREATE TABLE promotion_journal (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    promotion_seq INTEGER NOT NULL REFERENCES promotions (seq),
    step          TEXT    NOT NULL,
    phase         TEXT    NOT NULL CHECK (phase IN ('started', 'done', 'failed', 'undone')),
    detail        TEXT    NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX promotion_journal_promotion ON promotion_journal (promotion_seq);

CREATE TRIGGER event_promotion_ended AFTER UPDATE OF status ON promotions WHEN NEW.status <> OLD.status BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at) VALUES ('promotion.done', NEW.project_id, NEW.version_id,
        json_object('operation_id', NEW.id, 'status', NEW.status, 'previous', coalesce(NEW.previous_id, ''), 'error', NEW.error), NEW.finished_at);
END;

CREATE TRIGGER event_promotion_started AFTER INSERT ON promotions BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at) VALUES (
        CASE NEW.status WHEN 'running' THEN 'promotion.started' ELSE 'promotion.done' END, NEW.project_id, NEW.version_id,
        json_object('operation_id', NEW.id, 'status', NEW.status, 'previous', coalesce(NEW.previous_id, ''), 'detail', NEW.reason), NEW.created_at);
END;

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
    -- What a promotion cost the requests of production's host name, in microseconds; NULL when it
    -- is not known.
    held_us     INTEGER,
    window_us   INTEGER,
    -- What a promotion left behind with the previous production, as a JSON object (svc.Left);
    -- NULL when it was not counted.
    left_behind TEXT,
    kind        TEXT    NOT NULL DEFAULT 'promote',
    candidate_id TEXT   NOT NULL DEFAULT '',
    released    TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(released)), -- svc.Released
    watch       TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(watch)),    -- over a release that is done: svc.Watch
    FOREIGN KEY (project_id, version_id) REFERENCES versions (project_id, id),
    FOREIGN KEY (project_id, previous_id) REFERENCES versions (project_id, id),
    CHECK ((status = 'running') = (finished_at IS NULL))
) STRICT;

CREATE INDEX promotions_project ON promotions (project_id);

CREATE UNIQUE INDEX promotions_running ON promotions (project_id) WHERE status = 'running';

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

CREATE TRIGGER event_step_ended AFTER UPDATE OF ended_at ON timeline WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at)
        SELECT 'version.step', project_id, id, json_object('step', NEW.step, 'step_status', NEW.status, 'detail', NEW.detail), NEW.ended_at
        FROM versions WHERE seq = NEW.version_seq;
END;

CREATE TRIGGER event_step_started AFTER INSERT ON timeline BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at)
        SELECT 'version.step', project_id, id, json_object('step', NEW.step, 'step_status', NEW.status), NEW.started_at
        FROM versions WHERE seq = NEW.version_seq;
END;

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

CREATE TABLE version_labels (
    version_seq INTEGER NOT NULL REFERENCES versions (seq),
    key         TEXT    NOT NULL,
    value       TEXT    NOT NULL,
    PRIMARY KEY (version_seq, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX version_labels_found ON version_labels (key, value, version_seq);

CREATE TRIGGER event_warning AFTER INSERT ON version_warnings BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at)
        SELECT 'version.warning', project_id, id, json_object('detail', NEW.text), NEW.created_at
        FROM versions WHERE seq = NEW.version_seq;
END;

CREATE TABLE version_warnings (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    version_seq INTEGER NOT NULL REFERENCES versions (seq),
    text        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE INDEX version_warnings_version ON version_warnings (version_seq);

CREATE TRIGGER event_version_created AFTER INSERT ON versions BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at) VALUES ('version.created', NEW.project_id, NEW.id,
        json_object('status', NEW.status, 'git_ref', NEW.git_ref), NEW.created_at);
END;

CREATE TRIGGER event_version_pinned AFTER UPDATE OF pinned ON versions WHEN NEW.pinned <> OLD.pinned BEGIN
    INSERT INTO events (type, project_id, version_id, created_at) VALUES (
        CASE NEW.pinned WHEN 1 THEN 'version.pinned' ELSE 'version.unpinned' END, NEW.project_id, NEW.id, NEW.updated_at);
END;

CREATE TRIGGER event_version_status AFTER UPDATE OF status ON versions WHEN NEW.status <> OLD.status BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at) VALUES (
        CASE WHEN NEW.status IN ('archived', 'destroyed') THEN 'version.' || NEW.status
             WHEN OLD.status = 'archived' THEN 'version.woken' ELSE 'version.status' END,
        NEW.project_id, NEW.id,
        json_object('status', NEW.status, 'previous', OLD.status, 'error', NEW.error), NEW.updated_at);
END;

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
    last_request_at INTEGER,
    -- When everything that a destroyed version had outside this file was removed; NULL until then,
    -- so that a removal that was cut off is found and repeated.
    purged_at       INTEGER,
    -- The version that began with production's data and made scrubbing necessary: the version
    -- itself or an ancestor, '' for none.
    scrub_id        TEXT    NOT NULL DEFAULT '',
    error_output    TEXT    NOT NULL DEFAULT '', -- what the worker of a failed version printed last
    -- The preview name of a version, '' for none, and how many of the versions before it stay
    -- ready. The host name of a name belongs to its newest version that has been ready, so there
    -- is no pointer that could disagree.
    preview_name    TEXT    NOT NULL DEFAULT '',
    preview_keep    INTEGER NOT NULL DEFAULT 0,
    bundle_env      TEXT,                        -- variables of the bundle, a JSON object of strings; NULL until it was fetched
    -- Whether the pin is that of a previous production, which the next promote may release. A
    -- person's pin has 0.
    pin_auto        INTEGER NOT NULL DEFAULT 0 CHECK (pin_auto IN (0, 1) AND pin_auto <= pinned),
    asleep_at       INTEGER, -- since when a ready version has no processes because nothing asked for it
    wake_at         INTEGER, -- when it must run for work of its own
    events          TEXT    NOT NULL DEFAULT '', -- which events of its own reach a version that is not production: '' for messages and workflows, 'off', 'handed_over'
    released_from   TEXT    NOT NULL DEFAULT '', -- the candidate of the release that made the version
    handed_over_to  TEXT    NOT NULL DEFAULT '', -- the version that continues with the data
    -- The migrations that the deploy applied, as a JSON array of "<binding>/<name>", and how long all
    -- of them took, in microseconds.
    migrations      TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(migrations)),
    migrated_us     INTEGER NOT NULL DEFAULT 0,
    object_namespace TEXT   NOT NULL DEFAULT '', parent_at INTEGER,
    UNIQUE (project_id, id), -- for ever: destroyed versions keep their row
    FOREIGN KEY (project_id, parent_id) REFERENCES versions (project_id, id)
) STRICT;

CREATE INDEX versions_listed ON versions (project_id) WHERE status <> 'destroyed';

CREATE INDEX versions_parent ON versions (project_id, parent_id) WHERE parent_id IS NOT NULL;

CREATE INDEX versions_preview ON versions (project_id, preview_name, seq) WHERE preview_name <> '';

CREATE INDEX versions_project ON versions (project_id, status);

CREATE INDEX versions_status ON versions (status);

CREATE INDEX versions_unpurged ON versions (seq) WHERE status = 'destroyed' AND purged_at IS NULL;

CREATE TABLE webhook_deliveries (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    webhook_id TEXT    NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    type       TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    next_at    INTEGER, -- of the next try; NULL when there is none
    delivered  INTEGER NOT NULL DEFAULT 0,
    status     INTEGER NOT NULL DEFAULT 0, -- of the last answer; 0 for none
    answer     TEXT    NOT NULL DEFAULT '',
    error      TEXT    NOT NULL DEFAULT '',
    tried_at   INTEGER
) STRICT;

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE next_at IS NOT NULL;

CREATE INDEX webhook_deliveries_of ON webhook_deliveries (webhook_id, seq);

CREATE TABLE webhooks (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    project_id TEXT    NOT NULL,
    url        TEXT    NOT NULL,
    events     TEXT    NOT NULL CHECK (json_valid(events)),
    format     TEXT    NOT NULL,
    generation INTEGER NOT NULL DEFAULT 1,
    rotated_at INTEGER,
    cursor     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT    NOT NULL,
    ended_at   INTEGER
) STRICT;


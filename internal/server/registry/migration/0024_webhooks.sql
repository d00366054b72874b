-- Webhooks, and what was sent to them. project_id is '' for events of all projects. cursor is the last
-- event that was looked at; ended_at is set when the receiver answered that it is gone. The secret of a
-- webhook is derived from its id and generation, and stored nowhere.
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

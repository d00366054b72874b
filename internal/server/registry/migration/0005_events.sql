-- What happened, in the order of the commits: id is the cursor of GET /v1/events,
-- and AUTOINCREMENT never gives a number twice. Triggers write a row in the
-- transaction of the change itself, so that none is lost or doubled. Rows are kept
-- for an hour. data has the fields of EventData that the type has.
CREATE TABLE events (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    type       TEXT    NOT NULL,
    project_id TEXT    NOT NULL DEFAULT '',
    version_id TEXT    NOT NULL DEFAULT '',
    data       TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(data)),
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX events_created ON events (created_at);

CREATE TRIGGER event_project_created AFTER INSERT ON projects BEGIN
    INSERT INTO events (type, project_id, created_at) VALUES ('project.created', NEW.id, NEW.created_at);
END;

CREATE TRIGGER event_production AFTER UPDATE OF prod_version_id ON projects
WHEN NEW.prod_version_id IS NOT OLD.prod_version_id BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at) VALUES ('project.production', NEW.id, coalesce(NEW.prod_version_id, ''),
        json_object('previous', coalesce(OLD.prod_version_id, '')), NEW.updated_at);
END;

CREATE TRIGGER event_version_created AFTER INSERT ON versions BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at) VALUES ('version.created', NEW.project_id, NEW.id,
        json_object('status', NEW.status, 'git_ref', NEW.git_ref), NEW.created_at);
END;

CREATE TRIGGER event_version_status AFTER UPDATE OF status ON versions WHEN NEW.status <> OLD.status BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at) VALUES (
        CASE WHEN NEW.status IN ('archived', 'destroyed') THEN 'version.' || NEW.status
             WHEN OLD.status = 'archived' THEN 'version.woken' ELSE 'version.status' END,
        NEW.project_id, NEW.id,
        json_object('status', NEW.status, 'previous', OLD.status, 'error', NEW.error), NEW.updated_at);
END;

CREATE TRIGGER event_version_pinned AFTER UPDATE OF pinned ON versions WHEN NEW.pinned <> OLD.pinned BEGIN
    INSERT INTO events (type, project_id, version_id, created_at) VALUES (
        CASE NEW.pinned WHEN 1 THEN 'version.pinned' ELSE 'version.unpinned' END, NEW.project_id, NEW.id, NEW.updated_at);
END;

CREATE TRIGGER event_step_started AFTER INSERT ON timeline BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at)
        SELECT 'version.step', project_id, id, json_object('step', NEW.step, 'step_status', NEW.status), NEW.started_at
        FROM versions WHERE seq = NEW.version_seq;
END;

CREATE TRIGGER event_step_ended AFTER UPDATE OF ended_at ON timeline WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at)
        SELECT 'version.step', project_id, id, json_object('step', NEW.step, 'step_status', NEW.status, 'detail', NEW.detail), NEW.ended_at
        FROM versions WHERE seq = NEW.version_seq;
END;

CREATE TRIGGER event_warning AFTER INSERT ON version_warnings BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at)
        SELECT 'version.warning', project_id, id, json_object('detail', NEW.text), NEW.created_at
        FROM versions WHERE seq = NEW.version_seq;
END;

CREATE TRIGGER event_promotion_started AFTER INSERT ON promotions BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at) VALUES (
        CASE NEW.status WHEN 'running' THEN 'promotion.started' ELSE 'promotion.done' END, NEW.project_id, NEW.version_id,
        json_object('operation_id', NEW.id, 'status', NEW.status, 'previous', coalesce(NEW.previous_id, ''), 'detail', NEW.reason), NEW.created_at);
END;

CREATE TRIGGER event_promotion_ended AFTER UPDATE OF status ON promotions WHEN NEW.status <> OLD.status BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at) VALUES ('promotion.done', NEW.project_id, NEW.version_id,
        json_object('operation_id', NEW.id, 'status', NEW.status, 'previous', coalesce(NEW.previous_id, ''), 'error', NEW.error), NEW.finished_at);
END;

CREATE TRIGGER event_promotion_step AFTER INSERT ON promotion_journal BEGIN
    INSERT INTO events (type, project_id, version_id, data, created_at)
        SELECT 'promotion.step', project_id, version_id,
            json_object('operation_id', id, 'step', NEW.step, 'step_status', NEW.phase, 'detail', NEW.detail), NEW.created_at
        FROM promotions WHERE seq = NEW.promotion_seq;
END;

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

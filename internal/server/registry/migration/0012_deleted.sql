-- When a project was deleted. Its row and the ids of its versions stay: a project that is
-- created again under the id continues with them, so that no id is used twice.
ALTER TABLE projects ADD COLUMN deleted_at INTEGER;

CREATE TRIGGER event_project_deleted AFTER UPDATE OF deleted_at ON projects
WHEN NEW.deleted_at IS NOT OLD.deleted_at BEGIN
    INSERT INTO events (type, project_id, created_at) VALUES (
        CASE WHEN NEW.deleted_at IS NULL THEN 'project.created' ELSE 'project.deleted' END, NEW.id, NEW.updated_at);
END;

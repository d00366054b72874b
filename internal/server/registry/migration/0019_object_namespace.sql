-- The namespace of Durable Objects (svc.ObjectNamespace). A version takes that of its parent, a root
-- that of its project. '' in all rows from before, so that the ids of their objects stay.
ALTER TABLE projects ADD COLUMN object_namespace TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN object_namespace TEXT NOT NULL DEFAULT '';

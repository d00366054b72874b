-- The name of the worker whose name became the id of the project, as its project file has it: my_app
-- and my-app are one id. '' if it is not known.
ALTER TABLE projects ADD COLUMN worker_name TEXT NOT NULL DEFAULT '';

-- Named previews: the name of a version, '' for none, and how many of the versions
-- before it stay ready. The host name of a name belongs to its newest version that has
-- been ready, so there is no pointer that could disagree.
ALTER TABLE versions ADD COLUMN preview_name TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN preview_keep INTEGER NOT NULL DEFAULT 0;
CREATE INDEX versions_preview ON versions (project_id, preview_name, seq) WHERE preview_name <> '';

-- What the first version of a name begins with: the id of a version, '' for nothing.
ALTER TABLE projects ADD COLUMN preview_parent TEXT NOT NULL DEFAULT '';

-- Variables of every version that has a preview name.
CREATE TABLE preview_env (
    project_id TEXT NOT NULL REFERENCES projects (id),
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    PRIMARY KEY (project_id, key)
) STRICT, WITHOUT ROWID;

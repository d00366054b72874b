-- The variables of a version's bundle, a JSON object of strings; NULL until the
-- bundle was fetched.
ALTER TABLE versions ADD COLUMN bundle_env TEXT;

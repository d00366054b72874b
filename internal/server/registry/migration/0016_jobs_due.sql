-- The next job is found without reading those that wait for their bundles.
CREATE INDEX jobs_due ON jobs (run_at) WHERE lease_until IS NULL;
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE lease_until IS NOT NULL;

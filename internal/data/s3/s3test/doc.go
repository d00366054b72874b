// Package s3test provides a real object store for tests: the embedded one, as a child
// process, or with SVC_TEST_STORE=external the one that S3_ENDPOINT,
// S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and S3_REGION name (make test-s3).
package s3test

// Package s3 implements objstore.Bucket over any S3-compatible object store,
// addressed path style with static keys. It is the only package that imports the AWS
// SDK; the daemon and hosts open it.
//
// The SDK retries failed requests itself; callers must not add retries of single
// requests (objstore.Settle and Read do so for outcomes). A Put is one request, which
// stores all of the body or nothing. All types are safe for concurrent use.
package s3

// Package s3 is objstore.Bucket over any S3-compatible store, addressed path
// style with static keys. It is the only package that knows the AWS SDK.
//
// The SDK retries failed requests itself; callers must not wrap it. A Put is
// one request: all or nothing.
package s3

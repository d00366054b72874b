// Package watch supervises releases that are done: when the new production exceeds a limit, such
// as errors>1%, it releases the code of before on the data that is there (svc.ReleaseRequest with
// Rollback), so that no write is lost.
//
// The registry holds each watch, in the record of its release, so that the next process continues
// it. What counts are the requests that this process has seen since the release, of the last ten
// minutes at most (package traffic). A later production ends a watch.
//
// Package promote tells a [Service] of a release that is done; daemon starts it. It imports lib and
// svc, and is safe for concurrent use.
package watch

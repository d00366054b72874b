// Package site answers requests for the static files of a version: which file an URL
// names, what _redirects and _headers say about it, and which requests are the worker's.
// The rules are those of Cloudflare's static assets; docs/guide/assets.md names the
// differences.
//
// The gateway asks a Site before it looks for a runtime, so that a file costs neither
// workerd nor the worker host. The worker host asks its own Site for what the worker
// fetches through the binding of the assets.
//
// A Site reads files below the directory of the unpacked bundle and keeps their
// compressed forms beside them. Open files belong to the caller.
//
// Concurrency: all methods may be called at any time.
package site

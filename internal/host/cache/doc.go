// Package cache is the Cache API of one version (caches.default and caches.open):
// responses that a worker put, kept on the local disk and, while they are small and
// used, in memory. A cache is not data: it never goes to the object store, so it is
// empty in a child, after a wake and on another machine, and any response may be gone
// at any time.
//
// workerd asks over HTTP: GET is match, PUT is put with a whole response as its body,
// PURGE is delete.
//
// Ownership: the worker host opens one Cache for its version, and the Cache owns its
// directory. Concurrency: a Cache serves concurrent requests. Failure: a disk that is
// full or broken makes puts without effect and matches misses; it fails no request.
package cache

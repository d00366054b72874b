// Package logs has the log of each version: it writes one entry for each request of the
// gateway, and reads these together with what the version's worker host writes.
//
// Two processes write, each into a ring of its own in the version's log directory
// (svc.LogsOfGateway, svc.LogsOfWorker). Nothing is joined when it is written: a Reader
// merges both rings by time, and the entries of one invocation have the same request id.
// A follower polls the files, so it costs the requests nothing and survives a restart of
// either writer.
//
// A cursor is the position in both rings. It stays valid as long as the rings exist; when
// entries after it are no longer kept, an entry with the source "gap" says how many.
package logs

// Package branch records which objects make up the data of a version, which
// process may write them, and which objects may be deleted. It works on object
// names only: it reads no page and uses no SQLite. Layout, below one bucket:
//
//	{project}/{version}/version.json     state, epoch and owner; changed by compare-and-set
//	{project}/{version}/branch.json      the fork: immutable, create-only; a root has none
//	{project}/{version}/db/{database}/ltx/{level:04x}/{min:016x}-{max:016x}.ltx
//	{project}/{version}/blobs/{since:016x}-{uuid}         bodies that rows of the database "sys" name
//	{project}/{version}/gc/dead/{nanoseconds:016x}.json   log files superseded or unwanted, deleted after the grace
//	{project}/{version}/gc/blobs/{nanoseconds:016x}.json  blobs that rows of the version no longer name
//	hosts/{node}.json                    the lease of a node, renewed every 5 s
//
// A fork is one create-only PUT: branch.json names, for every database of the
// child, the exact log files that restore it at the cut, whichever ancestor
// wrote them (File). Files are immutable, so naming one is a complete pin, and
// opening a grandchild reads no manifest but its own.
//
// Ownership has two layers. The lease of a node shows that the node is alive and
// keeps another node from taking over a live owner's version; it depends on
// clocks. The protection of the data does not: slot N+1 of a log is created once,
// and every other writer gets ErrFenced. Store.Acquire waits for the lease,
// Store.Claim wins the slots.
//
// Only Sweep deletes. Sweep deletes an object when no manifest of a version that
// is not destroyed and no current restore plan has needed it for the grace, it
// has been in a dead list for the grace, and a second survey confirms both. With
// SweepOptions.Registry the registry decides which versions are wanted. All of
// this requires that a fork takes only a small part of the grace from its cuts to
// its manifest. The rule for blobs, which only the owner of a version can tell
// apart, is in docs/design/blobs.md.
//
// Errors: svc.Error for errors that users may see, the sentinels of this package
// (ErrNotRestorable, ErrFenced, ErrLost, ErrManifestLost) for callers. All types
// are safe for concurrent use.
//
// Package replica writes the logs and dataplane owns versions through branch; the
// daemon forks and sweeps through it. It imports objstore and svc.
package branch

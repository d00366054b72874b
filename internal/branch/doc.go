// Package branch knows which objects make up the data of a version, and who may
// write and who may delete them. It works on names: it reads no page and knows
// no SQLite. Layout, below one bucket:
//
//	{project}/{version}/version.json     state, epoch and owner; changed by compare-and-set
//	{project}/{version}/branch.json      the fork: immutable, create-only; a root has none
//	{project}/{version}/db/{store}/ltx/{level:04x}/{min:016x}-{max:016x}.ltx
//	{project}/{version}/blobs/{since:016x}-{uuid}         bodies that rows of the store "sys" name
//	{project}/{version}/gc/dead/{nanoseconds:016x}.json   names superseded, deleted after the grace
//	{project}/{version}/gc/blobs/{nanoseconds:016x}.json  blobs that rows of the version name no more
//	hosts/{host}.json                    that a host is alive, renewed every 5 s
//
// A fork is one create-only PUT: branch.json names, for every store of the
// child, the exact log files that restore it at the cut, in whichever ancestor
// they lie (File). Files are immutable, so naming one is a complete pin, and
// opening a grandchild walks no chain.
//
// Ownership has two layers. The lease of a host says that it lives, and keeps a
// taker from fighting a live owner; it depends on clocks. What protects the data
// does not: slot N+1 of a log is created once, by whoever wins it (ErrFenced for
// the other). Store.Acquire waits for the first, Store.Seal wins the second.
//
// Deletion is Sweep, and nothing else deletes. A name goes when no manifest of a
// version that is not destroyed and no current restore plan needs it, none has
// needed it for the grace and it has been in a dead list for as long, and a
// second look at the manifests still says so. Where the registry is asked
// (SweepOptions.Fates), it has the last word on what is wanted. All of it rests
// on the bound of a fork: from the moment of its cuts to its manifest it may
// take a small part of the grace. For blobs, which only the owner of a version
// can tell apart, the rule is in docs/design/blobs.md.
//
// Errors: svc.Error for what users may see, the sentinels of this package
// (ErrNotRestorable, ErrFenced, ErrLost) for callers. All types are safe for
// concurrent use.
package branch

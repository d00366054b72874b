// Package divergence counts and exports what production wrote that another version lacks. The two
// began with the same data at a cut; what production has now is compared with that cut, by
// package rowdiff, so that the cost grows with what was written. What both wrote alike
// since the cut counts as well.
//
// Production's data of the moment come from its worker host if that runs, else from the
// object store. Reads are bounded in pages and time: past a bound the counts are lower
// bounds. Without a common cut the result says why and counts nothing but workflows, with
// which every version begins anew.
//
// An export writes the records that a count counts, with their values, from the object
// store alone. Nothing shortens it silently: at a limit of its own, which is far higher, or
// when data are missing, it ends with an error.
//
// A diff (Diff) compares the data of two versions of this moment, or of one version with what it
// inherited. Rows are the same by their keys, everything else by its names, since each version
// gives its own ids to namespaces, buckets, queues and Durable Objects. What both wrote alike does not
// differ. A diff holds the records of one database that differ, up to a limit, and refuses to read
// more than another limit unless it is asked to.
//
// Package promote records the result, package httpapi shows it as a plan. A Service is
// safe for concurrent use: it compares one pair at a time, exports one version at a time
// beside that, and has no state.
package divergence

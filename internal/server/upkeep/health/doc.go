// Package health checks what the data of versions depends on: buckets, directories, the
// lease of this node, and the replication lag of runtimes.
//
// Concurrent callers of one Check share one execution (singleflight), because deep
// health is open to every client, and each execution has a time limit. Checks starts
// goroutines only for executions; it is safe for concurrent use.
//
// Package daemon creates the checks and names them after settings; package httpapi
// calls Ping for deep health. The package imports data/objstore. [C11.4]
package health

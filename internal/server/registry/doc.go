// Package registry stores the records of the daemon in one SQLite file: projects,
// versions, their timelines, the deploy queue, promotions and their journals.
//
// It enforces these invariants: a status changes only along the edges of svc.Edges,
// each by one compare-and-set UPDATE; an id is never used twice; a version and its
// deploy job are created in one transaction; production always names a version that
// exists and serves; at most one promotion runs per project. A change is durable
// when its method returns (synchronous=FULL).
//
// The services of the server declare the methods that they need; package daemon
// passes them a DB. The package implements deployqueue.Store and the journal of
// lib/saga, and imports data/sqlite for the file and its migrations.
//
// Errors for clients are *svc.Error with the code named at the method; others are
// failures of the disk or bugs. A [DB] is safe for concurrent use; it locks the file
// against other processes. Each table has its SQL in one Go file.
package registry

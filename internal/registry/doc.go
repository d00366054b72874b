// Package registry keeps the control plane's records in one SQLite file:
// projects, versions, their timelines, the deploy queue, promotions and their
// journals. It stores and it guards; it decides nothing.
//
// What it guards: a status moves only along the arrows of svc.Edges, by one
// compare-and-set UPDATE each; an id is never given twice; accepting a version
// and queueing its deploy is one transaction; production always names a
// version that exists and serves; one promotion runs per project. Whatever a
// method has returned survives a crash of the process and of the machine
// (synchronous=FULL).
//
// Methods take and return values of package svc. Errors a client may see are
// *svc.Error with the code named at the method; others are faults of the disk
// or the program. A [DB] is safe for concurrent use; one daemon owns the file.
//
// One file per table holds the SQL: projects.go, versions.go and so on.
package registry

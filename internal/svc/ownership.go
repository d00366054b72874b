package svc

import "time"

// NodeLease is a node of an object store, with the lease that shows others that it is alive.
type NodeLease struct {
	Owner    Owner
	Here     bool      // it is this process
	Released bool      // its server was stopped
	Renewed  time.Time // by the clock of the object store; zero without leases
}

// DataOwner says who owns the data of a version.
type DataOwner struct {
	State     string // of the data; "" before the version was opened for the first time
	Owner     Owner  // zero for none
	Here      bool   // the owner is this process
	Epoch     uint64
	TakenOver bool      // the owner fenced a node that had not released the data
	Changed   time.Time // by the clock of the object store; zero for never
}

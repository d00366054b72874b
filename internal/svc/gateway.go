package svc

import "time"

// Gateway is a gateway that serves visitors with the routes of a server: the server's own
// one, or a process on another machine.
type Gateway struct {
	Name        string
	Own         bool   // in the server's process
	Address     string // that it connects from, or that the server's own one listens at
	Listens     string // where it serves visitors
	Version     string // of its program
	Connected   bool   // it was heard of within the last seconds
	ConnectedAt time.Time
	ReportedAt  time.Time
	Generation  uint64 // of its routes, as it reported; 0 before the first report
	Behind      uint64 // changes of routes that it had not reported to have
	Requests    uint64 // that it has served since its start
	Inflight    int    // requests, without websockets
	Websockets  int
}

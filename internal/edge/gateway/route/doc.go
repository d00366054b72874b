// Package route decides which runtime serves a request: it finds the version that the Host of the
// request names, and claims the version's runtime. spec: [C6.1] to [C6.5], [C6.8] to [C6.10], [D3] [D4] [D20].
//
// # Routing
//
// The routes are in an immutable table behind an atomic pointer. Each change
// (SetVersion, RemoveVersion, SetProduction) builds a new table; a request reads
// the table without a lock. The table is a projection of the registry: it is not
// stored, the daemon fills it at start.
//
// # Claim before use
//
// A request claims a runtime before it uses the runtime (Take), and releases the claim
// when the request is done. A retired runtime refuses claims, so a drain waits
// for a number of requests that only falls. The production host has claims of
// its own (see package gate): Hold makes new requests wait, DrainProduction waits for the
// requests that were claimed before the hold, Release ends the wait.
//
// A request that must wait does so within Take, by its Waiter: an engine knows when its client leaves.
// If a static file of the version answers the request, Take says so and claims no runtime.
//
// # Machines
//
// A runtime on another machine may admit the requests of other gateways itself (Machine), for the host
// names that it is granted. A grant is a claim that lasts until the requests that were admitted by
// it have ended: holds and drains know no other case. A production host whose version changes opens
// when the machine of the version before has said that it admits none.
//
// # Ownership
//
// All methods of Router are safe for concurrent use. An Upstream owns its spare connections; an UpConn
// belongs to one request at a time.
package route

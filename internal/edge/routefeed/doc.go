// Package routefeed carries the routes of a server to gateways on other machines, and what
// these report back.
//
// # The server's end
//
// Log stands in front of the server's own gateway: each change of a route goes to that
// gateway and, with the next generation, to the log. Server sends the log over HTTP as lines of
// JSON: all routes, then each change, and a heartbeat while nothing changes. It keeps the last
// maxChanges changes; a gateway that is further behind, or that connects anew, gets all
// routes, in an encoding that gateways share. Generations begin with the time of the server's start, so that those of a later
// process are higher.
//
// # The gateway's end
//
// Client reads the lines and applies them to Table, which drives a gateway and knows the
// generation of its routes. Without a server the last routes stay. Client connects again after
// a wait that grows to maxRetry, and sends reports: numbers, finished requests, and the versions
// that a request has asked to be started.
//
// # Ownership and failure
//
// All types are safe for concurrent use. A Server keeps what gateways report in memory; it
// forgets a gateway that was silent for forgetAfter. Reports that cannot be sent wait, at most
// maxRequests finished requests; further ones are counted and dropped.
package routefeed

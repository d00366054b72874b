// Package gate counts the requests that are in progress, so that a change of the route can wait for
// them. spec: [D20].
//
// A Tally counts claims. A closed one refuses further claims, so that the number only falls, and
// Done is closed when the last claim was released. Each runtime has one.
//
// A Gate is what requests for a host name pass whose version changes. Hold closes it: further requests
// wait, and Drain waits for those that have passed. Release opens it. Each time between two holds
// is an Epoch, which has a tally of its own: a drain never waits for requests that came after it.
//
// A machine that admits requests by itself holds a claim for all of them. Revoking and Revoked count
// such claims that end: a gate opens no earlier than the last of them. Settle waits for that.
//
// The package does no I/O and starts no goroutine. All methods are safe for concurrent use.
package gate

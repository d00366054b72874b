// Package edgemain is a gateway on another machine than the server: it joins package gateway with
// the routes of a server (package routefeed) and with the way to its versions (package relay).
//
// Start opens the ports and returns; visitors are served from the moment when the first
// routes have arrived. Without the server the last routes stay in place: requests wait for the
// server as they wait for a version that starts, and then get 503. Stop ends gracefully and
// waits. Failed reports an error after which the
// process cannot serve. An Edge is safe for concurrent
// use.
package edgemain

// Package conn is the engine of the gateway that serves each connection with a goroutine, and what the
// connections of every engine share: Server has their limits and counts them. spec: [C6.7] [D20].
//
// # Connections
//
// The engine has its own HTTP/1.1, in package http1, because net/http hides
// two things that the gateway must do exactly: the gateway forwards paths, header
// lines, early responses and interim responses unchanged, and it detects
// immediately that a client has closed its connection and then closes the
// runtime's connection, which makes workerd cancel the worker. One goroutine
// serves a connection. A second goroutine, which reads what the client sends
// meanwhile, runs only for uploads, websockets and responses that take longer
// than some milliseconds (watch.go).
//
// # What an engine is given
//
// A Server: requests are answered by its Service, connections are counted by Enter and Leave, and Running
// has each of them until it ends. Client is a client's connection with its limits, Tunnel an open websocket.
//
// # Handing over
//
// An event loop hands over what it does not do (Adopt, ContinueWith), and gets the connection back
// between two requests.
//
// # Ownership and failure
//
// If a runtime fails, the response of that request is 502 runtime_unavailable; other requests are not
// affected. A response that ends early closes its connection, so that a client cannot mistake it for a
// complete one. A panic ends one connection.
package conn

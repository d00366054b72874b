// Package https speaks TLS with visitors and with clients of the API, in front of both.
//
// A Front accepts TLS connections on one port. What the client asks for in its handshake
// decides where a connection goes: HTTP/1.1 for a host of the gateway becomes a connection of
// the gateway, as if the visitor had connected to it. HTTP/2, and everything for a host name of
// the API, is served by net/http here: requests for the API call its handler, and each request
// for the gateway becomes a connection of the gateway within the process.
//
// A Redirect answers plain HTTP. Certificates come from files (Files), which are read again
// when they change.
//
// The types are safe for concurrent use. Package daemon wires them.
package https

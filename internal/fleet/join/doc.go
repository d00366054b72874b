// Package join is how a machine joins the daemon whose versions it runs: the token that it
// shows, and the first messages of a connection, after which the line of package control begins.
//
// The machine dials by TLS. A daemon has a certificate authority of its own, whose key the
// token pins by its SHA-256, so that no name of the daemon has to be certified; the token also
// has the secret that the daemon checks. Then the machine sends a Hello, and the daemon answers
// with a Welcome: JSON after four bytes of length.
package join

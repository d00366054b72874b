// Package s3server is the embedded object store: versitygw on a directory, with
// every object fsynced before it has its name, and again before it is
// acknowledged. It runs as a child process of
// the daemon, because the gateway changes the working directory of its process
// and allows one instance in it.
//
// Run is the child; Server is the daemon's side: it starts the child, restarts
// it when it dies, and stops it. The child ends when the pipe to its parent
// closes, so a killed daemon leaves none behind.
//
// The store listens on a 0600 unix socket for the daemon and, if asked, on a
// TCP address for ordinary S3 tools, with keys kept in a 0600 file. It survives
// crashes and power failures; it does not survive the loss of its disk.
package s3server

// Package s3server is the embedded object store: versitygw on a directory. It fsyncs
// the content of an object before the object has its name, and the directories before
// a write is acknowledged. It runs as a child process of the daemon, because the
// gateway changes the working directory of its process and allows one instance in it.
//
// Run is the child process; Server is the daemon's side: it starts the child, restarts
// it after a crash, and stops it. The child ends when the pipe to its parent closes,
// so it ends with the daemon, SIGKILL included. s3server imports svc alone; the
// clients of the object store use package s3.
//
// The object store listens on a 0600 unix socket for the daemon and hosts and, if
// configured, on a TCP address for S3 tools, with keys in a 0600 file. Acknowledged
// objects survive crashes and power failures, but not the loss of the disk.
package s3server

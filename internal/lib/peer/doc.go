// Package peer restricts a listener for Unix sockets to the processes that it is for. The mode of a
// socket, and of its directory, keep out other users; they do not keep out another process of the
// same user that knows the path.
//
// Linux tells which process has connected. Elsewhere nothing is restricted.
package peer

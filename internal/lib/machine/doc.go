// Package machine reads what a server's machine has: the room on a disk. It keeps no state
// and is safe for concurrent use.
package machine

//go:build !linux

package clientlimit

import "net"

// Unsent returns the number of written bytes that the peer has not acknowledged, -1 if
// it is unknown.
func Unsent(net.Conn) int { return -1 }

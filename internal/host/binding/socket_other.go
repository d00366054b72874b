//go:build !linux

package binding

import "net"

// quicken returns conn: only Linux has quick system calls.
func quicken(conn net.Conn) net.Conn { return conn }

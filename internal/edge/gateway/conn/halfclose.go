package conn

import (
	"io"
	"syscall"
	"time"
)

// SilentTests is the number of tests, Config.ProbeTime apart, in which no byte was
// written to a client that has ended its input: after them the client counts as gone,
// unless a probe could be sent.
const SilentTests = 10

// Probe is an interim response, which a client that has left answers with a reset.
const Probe = "HTTP/1.1 100 Continue\r\n\r\n"

// AwaitReset waits until the client, which has ended its input during a request, is
// gone. A client that closes only its sending side still expects the response, and
// TCP does not distinguish it from a client that has closed its connection, until
// bytes are sent: then the second one resets the connection.
//
// AwaitReset returns the error of the read deadline, or another one when the client
// is gone.
func (c *Client) AwaitReset() error {
	sc, ok := c.Conn.(syscall.Conn)
	if !ok {
		return io.EOF
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return err
	}
	over := make(chan struct{})
	defer close(over)
	go c.testClient(over)
	err = raw.Read(hasFailed)
	if err == nil {
		err = syscall.ECONNRESET
	}
	return err
}

// hasFailed reports whether the peer has reset the connection fd. The pending error
// shows it: a read returns the end of input only.
func hasFailed(fd uintptr) bool {
	code, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR)
	return err != nil || code != 0
}

// testClient makes a client that is gone reset its connection, or closes it after a
// time without a byte of the response, until over is closed.
func (c *Client) testClient(over <-chan struct{}) {
	tick := time.NewTicker(c.Config.ProbeTime)
	defer tick.Stop()
	written, silent := c.response.Calls(), 0
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		if c.probe() {
			return // the response of a client that is gone is the reset
		}
		if n := c.response.Calls(); n != written {
			written, silent = n, 0
		}
		if silent++; silent > SilentTests {
			_ = c.Close()
			return
		}
	}
}

// probe sends an interim response, which clients of HTTP/1.1 must accept at any time
// before the response (RFC 9110, 15.2). It reports whether it could.
func (c *Client) probe() bool {
	c.probing.Lock()
	defer c.probing.Unlock()
	if !c.silent.Load() {
		return false
	}
	_, err := c.Conn.Write([]byte(Probe))
	return err == nil
}

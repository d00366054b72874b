package dial

import (
	"context"
	"net"
	"time"
)

const (
	// again is the time after which another attempt begins while the one before has no answer: a
	// Service may have led it to a machine that is gone, and leads the next one to another.
	again = 300 * time.Millisecond
	// attempt is the time for one attempt.
	attempt = 1500 * time.Millisecond
	// probes is how often a machine is asked until it counts as lost.
	probes = 5
)

// TCP connects to an address. The connection ends when the other machine has not answered for the
// time lost, whether there is something to send or not. A program that does not read for that long
// is no such case.
func TCP(ctx context.Context, address string, lost time.Duration) (net.Conn, error) {
	nc, err := dialer(lost, 0).DialContext(ctx, "tcp", address)
	return watch(nc, lost), err
}

// Service is TCP for an address that leads to one of several machines: while an attempt has no answer,
// others begin, and the first connection is used. An attempt takes at most 1.5 seconds. The error is
// that of the last one, or the cause of the end of ctx.
func Service(ctx context.Context, address string, lost time.Duration) (net.Conn, error) {
	d := dialer(lost, attempt)
	nc, err := first(ctx, func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", address) })
	return watch(nc, lost), err
}

func dialer(lost, limit time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout: limit, Control: endStuck,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: lost / probes, Interval: lost / probes, Count: probes - 1},
	}
}

// result is what an attempt has come to.
type result struct {
	conn net.Conn
	err  error
}

// first calls connect, and again while no call has succeeded, until one succeeds or none runs.
// Connections of other calls are closed.
func first(ctx context.Context, connect func(context.Context) (net.Conn, error)) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the other calls, not the connection
	results := make(chan result)
	start := func() {
		conn, err := connect(ctx)
		select {
		case results <- result{conn, err}:
		case <-ctx.Done():
			if conn != nil {
				_ = conn.Close()
			}
		}
	}
	go start()
	next := time.NewTicker(again)
	defer next.Stop()
	for running := 1; ; {
		select {
		case r := <-results:
			if running--; r.err == nil || running == 0 {
				return r.conn, r.err
			}
		case <-next.C:
			running++
			go start()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

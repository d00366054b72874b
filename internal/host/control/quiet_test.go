package control_test

import (
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
)

// counted counts what is written.
type counted struct {
	net.Conn
	writes *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// An idle line sends nothing, however long: there may be thousands.
func TestIdleLineIsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var writes atomic.Int64
		daemon, there := net.Pipe()
		client, _, _ := start(t, counted{daemon, &writes}, counted{there, &writes}, newHost(), unheard)
		if _, err := client.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		before := writes.Load()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := writes.Load(); n != before || n == 0 {
			t.Errorf("%d writes, and %d an hour later", before, n)
		}
		if _, err := client.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A daemon that does not ask for notices does not keep a host.
func TestTellIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		daemon, there := net.Pipe()
		block := make(chan struct{})
		_, server, _ := start(t, daemon, there, newHost(), func(control.Notice) { <-block })
		if err := server.Tell(control.Notice{}); err == nil {
			t.Error("the notice was heard")
		}
		close(block)
	})
}

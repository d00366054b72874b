package machines_test

import (
	"net"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// strange opens connections that say nothing, or words that no machine says.
func strange(t *testing.T, addr string, n int, words string) (list []net.Conn) {
	t.Helper()
	for range n {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := conn.Write([]byte(words)); err != nil && words != "" {
			t.Fatal(err)
		}
		list = append(list, conn)
	}
	return list
}

// TestStrangers: connections that do not join take no more than their share of descriptors, and keep no
// machine out, also one of the same address.
func TestStrangers(t *testing.T) {
	t.Parallel()
	const limit = 16
	for name, words := range map[string]string{"silent": "", "one byte": "\x16"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var at door
			d := newDaemon(t, func(c *machines.Config) { at.Listener, c.Listen = c.Listen, &at })
			if err := d.Start(); err != nil {
				t.Fatal(err)
			}
			strange(t, d.addr, 600, words)
			began := time.Now()
			if _, _, err := join.Dial(t.Context(), d.addr, d.token, d.hello()); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 9*time.Second { // the limit of a join, which the strangers have, is ten seconds
				t.Errorf("a machine joined after %s", took)
			}
			if n := at.most.Load(); n > limit+1 {
				t.Errorf("%d connections of strangers at a time", n)
			}
		})
	}
}

// TestSilentStranger: a connection without a byte is closed long before a join has to end.
func TestSilentStranger(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, nil)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	conn := strange(t, d.addr, 1, "")[0]
	began := time.Now()
	_ = conn.SetReadDeadline(began.Add(svctest.Patience))
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a stranger got an answer")
	}
	if took := time.Since(began); took > 9*time.Second {
		t.Errorf("it ended after %s", took)
	}
}

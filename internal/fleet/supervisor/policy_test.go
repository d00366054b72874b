package supervisor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	p := Policy{}.orDefault()
	for _, tc := range []struct {
		crashes      int
		wanted, idle time.Duration
	}{
		{1, 100 * time.Millisecond, 100 * time.Millisecond},
		{2, 200 * time.Millisecond, 200 * time.Millisecond},
		{4, 800 * time.Millisecond, 800 * time.Millisecond},
		{10, 51200 * time.Millisecond, 51200 * time.Millisecond},
		{11, time.Minute, 102400 * time.Millisecond},
		{14, time.Minute, 10 * time.Minute},
		{1 << 30, time.Minute, 10 * time.Minute},
	} {
		for wanted, want := range map[bool]time.Duration{true: tc.wanted, false: tc.idle} {
			if got := p.longest(tc.crashes, wanted); got != want {
				t.Errorf("%d crashes, wanted %v: at most %s, want %s", tc.crashes, wanted, got, want)
			}
			different := map[time.Duration]bool{}
			for range 100 {
				wait := p.wait(tc.crashes, wanted)
				different[wait] = true
				if wait < want/2 || wait > want {
					t.Fatalf("%d crashes, wanted %v: %s, want %s to %s", tc.crashes, wanted, wait, want/2, want)
				}
			}
			if len(different) < 10 {
				t.Errorf("%d crashes, wanted %v: only %d different waits", tc.crashes, wanted, len(different))
			}
		}
	}
}

// TestAwait: requests and Revive end a wait earlier, at most once and within limits.
func TestAwait(t *testing.T) {
	t.Parallel()
	const long = 50 * time.Second
	for name, tc := range map[string]struct {
		unserved bool
		signal   func(*unit) // after one second
		want     time.Duration
		states   int // changes of the status
	}{
		"nothing":              {want: long},
		"asked":                {signal: func(u *unit) { hurry(u.asked) }, want: 10 * time.Second, states: 1},
		"asked, never served":  {unserved: true, signal: func(u *unit) { hurry(u.asked) }, want: long},
		"urgent":               {signal: func(u *unit) { hurry(u.urgent) }, want: time.Second, states: 1},
		"urgent, never served": {unserved: true, signal: func(u *unit) { hurry(u.urgent) }, want: time.Second, states: 1},
		"urgent, by many callers": {signal: func(u *unit) {
			for range 1000 {
				hurry(u.urgent)
			}
		}, want: time.Second, states: 1},
		"a flood": {signal: func(u *unit) {
			for range 1000 {
				hurry(u.asked)
				time.Sleep(time.Millisecond) // of the bubble's clock
			}
		}, want: 10 * time.Second, states: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				states := 0
				c := Config{OnChange: func(r svc.Runtime) {
					if states++; time.Until(r.RetryAt) > tc.want {
						t.Errorf("it tells clients to come back in %s", time.Until(r.RetryAt))
					}
				}}
				c.defaults()
				u := &unit{cfg: c, asked: make(chan struct{}, 1), urgent: make(chan struct{}, 1), changed: make(chan struct{})}
				began := time.Now()
				if tc.signal != nil {
					go func() { <-time.After(time.Second); tc.signal(u) }()
				}
				if !u.await(t.Context(), pause{from: began, until: began.Add(long), served: !tc.unserved}) {
					t.Error("it ends without a start")
				}
				if took := time.Since(began); took != tc.want || states != tc.states {
					t.Errorf("it waits %s with %d changes, want %s and %d", took, states, tc.want, tc.states)
				}
			})
		})
	}
}

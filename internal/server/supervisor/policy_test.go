package supervisor

import (
	"testing"
	"time"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	p := Policy{}.orDefault()
	// every returns n crashes, gap apart, each after an uptime.
	every := func(n int, gap, uptime time.Duration) []crash {
		var list []crash
		for i := range n {
			list = append(list, crash{at: time.Unix(0, 0).Add(time.Duration(i) * gap), uptime: uptime})
		}
		return list
	}
	for name, tc := range map[string]struct {
		crashes []crash
		wait    time.Duration
		again   bool
	}{
		"none":             {nil, 0, true},
		"first":            {every(1, 0, 0), 100 * time.Millisecond, true},
		"second":           {every(2, time.Second, 0), 200 * time.Millisecond, true},
		"fourth":           {every(4, time.Second, 0), 800 * time.Millisecond, true},
		"fifth in a row":   {every(5, time.Second, 0), 0, false},
		"five, 15 s apart": {every(5, 15*time.Second, 14*time.Second), 1600 * time.Millisecond, true},
		"five in 59 s":     {every(5, 14*time.Second, 13*time.Second), 0, false},
		"longest":          {every(20, 20*time.Second, 0), 30 * time.Second, true},
		"stable ones":      {every(20, 2*time.Minute, 2*time.Minute), 100 * time.Millisecond, true},
		"after a stable one": {
			[]crash{
				{time.Unix(0, 0), 0}, {time.Unix(1, 0), 0}, {time.Unix(100, 0), 99 * time.Second}, {time.Unix(101, 0), 0},
			}, 200 * time.Millisecond, true,
		},
	} {
		wait, again := p.next(tc.crashes)
		if wait != tc.wait || again != tc.again {
			t.Errorf("%s: %v %v, want %v %v", name, wait, again, tc.wait, tc.again)
		}
		if w, a := p.next(p.trim(tc.crashes)); w != tc.wait || a != tc.again {
			t.Errorf("%s: trim changes the result to %v %v", name, w, a)
		}
	}
}

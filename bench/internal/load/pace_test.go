package load

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPace: the connections take turns at the rate of the window, and a request that is
// late counts from the time when it was due.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := Window{Conns: 4, Rate: 1000}.paceOf(2, began)
		want := func(due, now time.Duration) {
			t.Helper()
			if got := p.next().Sub(began); got != due || time.Since(began) != now {
				t.Errorf("due after %s, at %s; want %s, at %s", got, time.Since(began), due, now)
			}
		}
		want(2*time.Millisecond, 2*time.Millisecond)
		want(6*time.Millisecond, 6*time.Millisecond)
		time.Sleep(9 * time.Millisecond) // a slow answer
		want(10*time.Millisecond, 15*time.Millisecond)
		want(14*time.Millisecond, 15*time.Millisecond)
		want(18*time.Millisecond, 18*time.Millisecond)
	})
}

// TestPaceOfNone: without a rate, each request begins when the one before it ended.
func TestPaceOfNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := Window{Conns: 4}.paceOf(2, time.Now())
		time.Sleep(time.Second)
		if got := p.next(); !got.Equal(time.Now()) {
			t.Errorf("%s", got)
		}
	})
}

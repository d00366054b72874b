package binding_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestReadOnly: while the project is read-only no event begins; those under way end. A version with an
// armed Starter does not sleep, because that one does not know when it is due.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set, log := openActors(t, &actor{}, &actor{})
		expect := func(step string, pending int, want ...string) {
			t.Helper()
			synctest.Wait()
			got := log.take()
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", step, got, want)
			}
			if w := set.Wake(); w.Pending != 4+pending { // two of each actor
				t.Errorf("%s: %d pending, want %d", step, w.Pending, 4+pending)
			}
		}
		must(t, set.SetReadOnly(t.Context(), true))
		must(t, set.Arm(t.Context(), true))
		must(t, set.Start(t.Context(), slow(time.Second)))
		expect("read-only from the start", 1)
		must(t, set.SetReadOnly(t.Context(), false))
		expect("writable", 0, "start armed", "start free")
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		began := time.Now()
		must(t, set.SetReadOnly(short, true))
		if took := time.Since(began); took != time.Millisecond {
			t.Errorf("waited for %s", took)
		}
		must(t, set.SetReadOnly(t.Context(), true)) // until the events are over
		expect("read-only", 1, "ok armed", "ok free", "stop armed", "stop free")
		must(t, set.SetReadOnly(t.Context(), false))
		expect("writable again", 0, "start armed", "start free")
		set.Stop(t.Context())
		must(t, set.Close())
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

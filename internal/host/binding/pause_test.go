package binding_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestWakeWithoutEvents: a version that gets no events needs no time for what waits, but the events under
// way count until they end: a version that sleeps would cut them off.
func TestWakeWithoutEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set, _ := openActors(t, &actor{wake: time.Minute}, &actor{wake: time.Hour})
		if err := set.Start(t.Context(), slow(time.Second)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the event is under way
		if err := set.SetEvents(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if w := set.Wake(); w.Pending == 0 || !w.At.IsZero() {
			t.Errorf("an event is under way: %+v", w)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if w := set.Wake(); w.Pending != 0 || !w.At.IsZero() || w.Waiting != (svc.Waiting{}) {
			t.Errorf("nothing is under way: %+v", w)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
}

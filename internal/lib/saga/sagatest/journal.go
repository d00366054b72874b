package sagatest

import (
	"errors"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/saga"
)

// Journal checks that what fresh returns is an empty journal that keeps
// entries in order. fresh is called once per subtest.
func Journal(t *testing.T, fresh func(*testing.T) saga.Journal) {
	t.Helper()
	t.Run("empty", func(t *testing.T) {
		t.Parallel()
		if got, err := fresh(t).Steps(t.Context()); err != nil || len(got) != 0 {
			t.Errorf("Steps() = %v, %v; want none", got, err)
		}
	})
	t.Run("order", func(t *testing.T) {
		t.Parallel()
		j := fresh(t)
		entries := []saga.Entry{
			{Step: "a", Phase: saga.Started},
			{Step: "a", Phase: saga.Done},
			{Step: "b", Phase: saga.Started},
			{Step: "b", Phase: saga.Started}, // resumed after a crash
			{Step: "b", Phase: saga.Failed, Cause: errors.New("boom")},
			{Step: "b", Phase: saga.Undone},
			{Step: "a", Phase: saga.Undone},
		}
		for _, e := range entries {
			if err := j.Record(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		got, err := j.Steps(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if g, w := lines(got), lines(entries); g != w {
			t.Errorf("read back:\n%s\nwant:\n%s", g, w)
		}
	})
}

func lines(entries []saga.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Step + " " + string(e.Phase) + "\n")
	}
	return b.String()
}

package dataplane_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestCutBesideALongWrite: a cut during a long write holds other writes only briefly. It fails with
// parent_busy, or succeeds when the write ends.
func TestCutBesideALongWrite(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lasts time.Duration
		want  string
	}{"for ever": {time.Hour, "parent_busy"}, "for a while": {10 * time.Second, ""}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				v := openOn(t, new(memstore.Bucket), t.TempDir())
				long, other := database(t, v, "a"), database(t, v, "b")
				exec(t, long, "CREATE TABLE t(x)")
				exec(t, other, "CREATE TABLE t(x)")
				ended := make(chan error, 1)
				go func() {
					ended <- long.Write(t.Context(), func(*raw.Conn) error { time.Sleep(tc.lasts); return nil })
				}()
				synctest.Wait()
				cut := make(chan error, 1)
				go func() { _, _, err := v.Cut(t.Context()); cut <- err }()
				synctest.Wait()
				for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(100 * time.Millisecond) {
					at := time.Now()
					if exec(t, other, "INSERT INTO t VALUES (1)"); time.Since(at) > time.Second {
						t.Errorf("a write waited for %v", time.Since(at))
					}
				}
				if err := <-cut; svc.CodeOf(err) != tc.want {
					t.Errorf("the cut: %v, want %q", err, tc.want)
				}
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

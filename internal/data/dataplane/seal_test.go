package dataplane_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
)

// insertLater begins to write n, and returns what the write returned.
func insertLater(t *testing.T, db volume.Database, n int) <-chan error {
	t.Helper()
	wrote := make(chan error, 1)
	go func() {
		wrote <- db.Write(t.Context(), func(c *raw.Conn) error { return c.Exec("INSERT INTO t VALUES (?)", n) })
	}()
	synctest.Wait()
	return wrote
}

// TestSeal: the cut has the writes before the seal and none after it. A write that waits succeeds when
// the release is undone. When the release is done it fails, as all later ones of the process do, and
// each counts.
func TestSeal(t *testing.T) {
	t.Parallel()
	errReleased := errors.New("released")
	for name, refused := range map[string]bool{"undone": false, "done": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				bucket := new(memstore.Bucket)
				v := openOn(t, bucket, t.TempDir())
				db := database(t, v, "a")
				exec(t, db, "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
				sealed, err := v.Seal(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				waits := insertLater(t, db, 10)
				cut, _, err := sealed.Ship(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if n := askCut(t, bucket, cut["a"], "SELECT sum(x) FROM t"); n != 1 {
					t.Errorf("the cut has the sum %d", n)
				}
				select {
				case err := <-waits:
					t.Errorf("a write of sealed data returned %v", err)
				default:
				}
				want, sum, count := error(nil), int64(111), 0
				if refused {
					want, sum, count = errReleased, 1, 2
					sealed.Refuse(errReleased)
				}
				sealed.Open() // does nothing after Refuse
				for _, wrote := range []<-chan error{waits, insertLater(t, db, 100)} {
					if err := <-wrote; !errors.Is(err, want) {
						t.Errorf("a write returned %v, want %v", err, want)
					}
				}
				if n := number(t, db, "SELECT sum(x) FROM t"); n != sum || v.Refused() != count {
					t.Errorf("the sum is %d, %d writes were refused; want %d, %d", n, v.Refused(), sum, count)
				}
			})
		})
	}
}

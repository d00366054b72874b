package dataplane_test

import (
	"os"
	"testing"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestBodiesEndEarly: while the object store sends bodies that end early, the data is unavailable, not
// broken, and not archived; it opens when the store is well again.
func TestBodiesEndEarly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket := objstoretest.NewFaulty(new(memstore.Bucket), objstoretest.Faults{Torn: 1}, 1)
		bucket.Off.Store(true)
		dir := t.TempDir()
		v := openOn(t, bucket, dir)
		exec(t, database(t, v, "a"), fill)
		closed(t, v)
		bucket.Off.Store(false)
		for range 3 {
			if err := archive(t, bucket, dir); svc.CodeOf(err) != "data_unavailable" {
				t.Errorf("archive: %v", err)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		v = openOn(t, bucket, dir)
		for range 3 {
			if _, err := v.Database(t.Context(), "a"); svc.CodeOf(err) != "data_unavailable" {
				t.Errorf("open: %v", err)
			}
		}
		bucket.Off.Store(true)
		if n := number(t, database(t, v, "a"), "SELECT count(*) FROM t"); n != 150 {
			t.Errorf("%d rows", n)
		}
	})
}

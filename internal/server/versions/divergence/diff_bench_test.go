package divergence_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/lib/cputime"
	"github.com/svcctl/svcctl/internal/svc"
)

var diffMB = flag.Int("diff-mb", 16, "benchmarks: size of the database whose versions are compared")

// BenchmarkDiff compares two versions of a database, by default of 16 MB, in which 1,000 rows differ that
// are far from each other, with a store that is 1 ms away:
// go test -run '^$' -bench Diff -benchtime 5x ./internal/server/versions/divergence -diff-mb 1024
func BenchmarkDiff(b *testing.B) {
	w := newWorld(b)
	store := objstoretest.NewFaulty(w.bucket, objstoretest.Faults{}, 1)
	store.Latency = time.Millisecond
	const rowsPerMB, changed = 1000, 1000
	rows := rowsPerMB * *diffMB
	w.version("v1", "")
	w.exec("v1", "database-shop: CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB)")
	for at := 0; at < rows; at += 10 * rowsPerMB {
		w.exec("v1", fmt.Sprintf("database-shop: WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO t SELECT i, randomblob(980) FROM n", at+1, min(at+10*rowsPerMB, rows)))
	}
	w.version("v2", "v1")
	w.exec("v2", fmt.Sprintf("database-shop: UPDATE t SET v = randomblob(980) WHERE id %% %d = 0", max(rows/changed, 1)))
	w.close("v2") // what is merged in the background is not measured
	w.close("v1")
	w.bucket = store
	for name, o := range map[string]svc.DataDiff{"counts": {Ref: ref("v1"), With: "v2"}, "rows": {Ref: ref("v1"), With: "v2", Rows: true}, "own": {Ref: ref("v2")}} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			gets, busy := store.Gets.Load(), cputime.Of(os.Getpid())
			for b.Loop() {
				began := time.Now()
				_, _, err := w.diff(o)
				if took = append(took, time.Since(began)); err != nil {
					b.Fatal(err)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2])/float64(time.Millisecond), "ms/median")
			b.ReportMetric(float64((cputime.Of(os.Getpid())-busy)/time.Millisecond)/float64(len(took)), "ms-cpu")
			b.ReportMetric(float64(took[0]/time.Millisecond), "ms/best")
			b.ReportMetric(float64(store.Gets.Load()-gets)/float64(len(took)), "gets")
		})
	}
}

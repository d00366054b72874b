package replica_test

import (
	"bytes"
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
)

func TestMain(m *testing.M) { s3test.Main(m, nil) }

// TestRealStore runs a root, a child and a grandchild over the real object store: with
// faults, with two concurrent owners, and with a sweep.
func TestRealStore(t *testing.T) {
	t.Parallel()
	bucket, _ := s3test.Bucket(t, s3test.Target(t))
	b := objstoretest.NewFaulty(bucket, objstoretest.Faults{Before: .02, After: .02, Torn: .02}, 1)
	f := &family{newBranches(t, b, 200*time.Millisecond), b}
	m := newModel(1)
	l := open(t, b, "v0", nil)
	claim(t, f.store, "v0")
	var past []*model
	for i := range 3 {
		appendN(t, l, m, 40)
		res, err := l.Compact(t.Context(), replica.Policy{Files: 8})
		must(t, err)
		must(t, f.store.MarkDead(t.Context(), ref(fmt.Sprintf("v%d", i)), res.Superseded))
		past = append(past, m)
		m = m.fork(m.txid, uint64(i))
		child := fmt.Sprintf("v%d", i+1)
		l = f.fork(t, l, fmt.Sprintf("v%d", i), child, m.txid)
		claim(t, f.store, child)
	}
	for i, m := range past {
		same(t, f.open(t, fmt.Sprintf("v%d", i)), m, m.txid)
	}
	b.Off.Store(true)
	for i := range 3 {
		must(t, f.store.Destroy(t.Context(), ref(fmt.Sprintf("v%d", i))))
	}
	if sweepAll(t, f.store) == 0 {
		t.Error("nothing was swept")
	}
	same(t, f.open(t, "v3"), m, m.txid)
	var wg sync.WaitGroup
	var mu sync.Mutex
	winners := map[replica.TXID]int{}
	for writer := range 8 {
		rival := f.open(t, "v3")
		wg.Go(func() {
			if err := rival.Append(t.Context(), m.txid+1, onePage(t, m.txid+1, byte(writer))); err == nil {
				mu.Lock()
				winners[m.txid+1]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if winners[m.txid+1] != 1 {
		t.Errorf("%d of 8 won one slot", winners[m.txid+1])
	}
}

// TestLitestreamReadsIt builds a program of litestream's own code, which restores a
// real SQLite database from the log of a root version, at several transactions.
func TestLitestreamReadsIt(t *testing.T) {
	t.Parallel()
	c := s3test.Target(t)
	b, prefix := s3test.Bucket(t, c)
	dir := t.TempDir()
	command := filepath.Join(dir, "litestream")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "testdata/litestream", "-o", command, ".")
	build.Env = append(os.Environ(), "GOFLAGS=-mod=readonly")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build litestream: %v\n%s", err, out)
	}
	l := open(t, b, "v1", nil)
	d := newDatabase(t, filepath.Join(dir, "live.db"))
	var want [][]byte
	for i := range 90 {
		d.exec(t, fmt.Sprintf("WITH n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x < %d) INSERT INTO t(v) SELECT hex(randomblob(200)) FROM n", 1+i%9))
		if i%7 == 6 {
			d.exec(t, "DELETE FROM t WHERE id % 3 = 0")
		}
		if i%40 == 39 {
			d.exec(t, "VACUUM")
		}
		file, data := d.commit(t)
		must(t, l.Append(t.Context(), replica.TXID(i+1), data))
		want = append(want, file)
		if i == 40 || i == 80 {
			_, err := l.Compact(t.Context(), replica.Policy{Files: 16})
			must(t, err)
		}
	}
	for _, txid := range []int{90, 17, 1} {
		out := filepath.Join(dir, fmt.Sprintf("restored-%d.db", txid))
		from := "s3://" + s3test.BucketName() + "/" + prefix + branch.DatabasePrefix(ref("v1"), "main") +
			"/ltx?endpoint=" + c.Endpoint + "&forcePathStyle=true&region=" + cmp.Or(c.Region, "us-east-1")
		restore := exec.CommandContext(t.Context(), command, from, out, fmt.Sprintf("%016x", txid))
		restore.Env = []string{"AWS_ACCESS_KEY_ID=" + c.AccessKey, "AWS_SECRET_ACCESS_KEY=" + c.SecretKey.Reveal(), "HOME=" + dir}
		if text, err := restore.CombinedOutput(); err != nil {
			t.Fatalf("litestream restore at %d: %v\n%s", txid, err, text)
		}
		theirs, err := os.ReadFile(out)
		must(t, err)
		ours := filepath.Join(dir, fmt.Sprintf("ours-%d.db", txid))
		must(t, l.Restore(t.Context(), replica.TXID(txid), ours))
		mine, err := os.ReadFile(ours)
		must(t, err)
		if !bytes.Equal(theirs, want[txid-1]) || !bytes.Equal(mine, theirs) {
			t.Errorf("at %d: live %d bytes, litestream %d, ours %d; they differ", txid, len(want[txid-1]), len(theirs), len(mine))
		}
	}
}

// database is a SQLite file. Its commits are found by comparison of the file.
type database struct {
	db   *sql.DB
	path string
	old  [][]byte
	txid replica.TXID
}

func newDatabase(t testing.TB, path string) *database {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(wal)")
	must(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	d := &database{db: db, path: path}
	d.exec(t, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
	return d
}

func (d *database) exec(t testing.TB, stmt string) {
	t.Helper()
	_, err := d.db.ExecContext(t.Context(), stmt)
	must(t, err)
}

// commit returns the current file, and the log file of the changes.
func (d *database) commit(t testing.TB) (file, data []byte) {
	t.Helper()
	d.exec(t, "PRAGMA wal_checkpoint(TRUNCATE)")
	file, err := os.ReadFile(d.path)
	must(t, err)
	const size = 4096
	var pages [][]byte
	dirty := map[int]bool{}
	for i := range len(file) / size {
		page := file[i*size:][:size]
		dirty[i] = i >= len(d.old) || !bytes.Equal(page, d.old[i])
		pages = append(pages, page)
	}
	d.old = pages
	d.txid++
	return file, encode(t, d.txid, pages, dirty)
}

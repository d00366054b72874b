package dataplane_test

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/dirstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// machine is a directory for an object store and one for each version.
type machine struct {
	t      *testing.T
	dir    string
	bucket *dirstore.Bucket
}

func newMachine(t *testing.T, dir string) *machine {
	t.Helper()
	bucket, err := dirstore.Open(filepath.Join(dir, "objects"))
	if err != nil {
		t.Fatal(err)
	}
	return &machine{t, dir, bucket}
}

func (m *machine) config(version, parent, warm string) dataplane.Config {
	c := config(m.t, m.bucket, filepath.Join(m.dir, version))
	c.Ref.Version, c.Parent, c.Warm = version, parent, warm
	return c
}

func (m *machine) open(c dataplane.Config) *dataplane.Volumes {
	m.t.Helper()
	v, err := dataplane.Open(m.t.Context(), c)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		if err := v.Close(); err != nil {
			m.t.Error(err)
		}
	})
	return v
}

// fork creates child's manifest, and returns the parent's offer.
func (m *machine) fork(parent *dataplane.Volumes, from, child string) (offer string) {
	m.t.Helper()
	cuts, offer, err := parent.Cut(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	c := m.config(child, from, "")
	_, err = c.Branches.Fork(m.t.Context(), branch.Fork{
		Parent: svc.Ref{Project: "p", Version: from}, Child: c.Ref, ID: child, Cuts: cuts,
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return offer
}

const rows = 2000

func (m *machine) parent() *dataplane.Volumes {
	m.t.Helper()
	v := m.open(m.config("v1", "", ""))
	db := database(m.t, v, "a")
	script(m.t, db.Write, "CREATE TABLE t(id INTEGER PRIMARY KEY, v); "+
		fmt.Sprintf("WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) INSERT INTO t SELECT i, hex(randomblob(200)) FROM n", rows))
	return v
}

func script(t *testing.T, write func(context.Context, func(*raw.Conn) error) error, text string) {
	t.Helper()
	if err := write(t.Context(), func(c *raw.Conn) error { return c.Script(text) }); err != nil {
		t.Fatal(err)
	}
}

// TestWarmChild: a child in another process begins with the files of its parent, which writes and
// checkpoints meanwhile; the child sees the cut of the fork.
func TestWarmChild(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("WARM_DIR"); dir != "" {
		warmChild(t, dir, os.Getenv("WARM_OFFER"))
		return
	}
	m := newMachine(t, t.TempDir())
	v1 := m.parent()
	db := database(t, v1, "a")
	want := number(t, db, "SELECT sum(length(v)) + count(*) FROM t")
	offer := m.fork(v1, "v1", "child")
	if offer == "" {
		t.Fatal("the parent offers nothing")
	}
	cmd := osexec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWarmChild$", "-test.v")
	cmd.Env = append(os.Environ(), "WARM_DIR="+m.dir, "WARM_OFFER="+offer)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for i := 0; ; i++ {
		select {
		case err := <-ended:
			if err != nil || !strings.Contains(out.String(), fmt.Sprintf("sum %d\n", want)) || !strings.Contains(out.String(), "warm true") {
				t.Errorf("want the sum %d, warm; %v\n%s", want, err, out.String())
			}
			return
		default: // every page changes, again and again
			script(t, db.Write, "UPDATE t SET v = v || 'x'")
		}
	}
}

func warmChild(t *testing.T, dir, offer string) {
	t.Helper()
	m := newMachine(t, dir)
	v := m.open(m.config("child", "v1", offer))
	db := database(t, v, "a")
	t.Logf("warm %v", v.Warm())
	var sum int64
	for range 5 { // during hydration
		sum = number(t, db, "SELECT sum(length(v)) + count(*) FROM t")
	}
	script(t, db.Write, "UPDATE t SET v = v || 'y' WHERE id % 3 = 0")
	if n := number(t, db, "SELECT sum(length(v)) + count(*) FROM t"); n != sum+rows/3 {
		t.Errorf("after the child's write %d, before %d", n, sum)
	}
	fmt.Printf("sum %d\n", sum)
}

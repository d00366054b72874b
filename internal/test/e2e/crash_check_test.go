//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/crashtest"
)

// held is the content that a version reports: the last entry of each writer in its
// database and in its namespace.
type held struct{ chain, kv map[int]int }

// state queries a version and checks that its chains are complete.
func (w *crashRun) state(v *tested) held {
	w.t.Helper()
	var s struct {
		Chain [][4]any
		KV    map[string]int
	}
	if text := v.get("/state"); json.Unmarshal([]byte(text), &s) != nil {
		w.t.Errorf("%s says %.300s", v.id, text)
	}
	h := held{map[int]int{}, map[int]int{}}
	for _, row := range s.Chain {
		var n [3]int
		for i := range n {
			f, _ := row[i].(float64)
			n[i] = int(f)
		}
		if n[1] != n[2] || row[3] != link(n[0], n[1]) {
			w.t.Errorf("%s: the chain of writer %d is broken: %v", v.id, n[0], row)
		}
		h.chain[n[0]] = n[1]
	}
	for key, n := range s.KV {
		var writer int
		if _, err := fmt.Sscanf(key, "w%d", &writer); err != nil {
			w.t.Errorf("%s has the key %q", v.id, key)
		}
		h.kv[writer] = n
	}
	return h
}

// check checks that a version still has every acknowledged write.
func (w *crashRun) check(v *tested) {
	w.t.Helper()
	known := v.acks()
	h := w.state(v)
	for writer, n := range known {
		if h.chain[writer] < n || h.kv[writer] < n {
			w.t.Errorf("%s acknowledged %d of writer %d and has %d and %d (sync %v)", v.id, n, writer, h.chain[writer], h.kv[writer], w.sync)
		}
	}
}

// branchedWell compares a child without writes of its own with what clients of its
// parent know, and with a restore of the cut from the object store.
func (w *crashRun) branchedWell(child, parent *tested, before map[int]int) {
	w.t.Helper()
	tried := parent.tries()
	h := w.state(child)
	for writer, n := range before {
		if h.chain[writer] < n || h.kv[writer] < n {
			w.t.Errorf("%s acknowledged %d of writer %d before it was branched; %s has %d and %d", parent.id, n, writer, child.id, h.chain[writer], h.kv[writer])
		}
	}
	for writer, n := range h.chain {
		if most := max(tried[writer], before[writer]); n > most || h.kv[writer] > n || h.kv[writer] < n-1 {
			w.t.Errorf("writer %d of %s is at %d and %d in %s, of %d: not one moment", writer, parent.id, n, h.kv[writer], child.id, most)
		}
	}
	for writer := range h.chain { // a write that was interrupted between the two counts as the lesser
		child.known[writer], child.tried[writer] = min(h.chain[writer], h.kv[writer]), h.chain[writer]
	}
	w.restoreCut(child)
}

// restoreCut restores the child's cut from the object store alone. The child's
// database must be equal.
func (w *crashRun) restoreCut(child *tested) {
	w.t.Helper()
	ctx := w.t.Context()
	bucket := w.store.Bucket("svc-runtime", "")
	records, err := branch.New(branch.Config{Data: bucket, Logger: quiet})
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := records.Load(ctx, svc.Ref{Project: project, Version: child.id})
	if err != nil || m == nil {
		w.t.Fatalf("the manifest of %s: %v, %v", child.id, m, err)
	}
	dir := w.t.TempDir()
	for name, base := range m.Databases {
		path := filepath.Join(dir, name)
		plan, err := branch.Plan(base.Files, base.TXID)
		var src *replica.Source
		if err == nil {
			src, err = replica.NewSource(ctx, bucket, plan)
		}
		if err == nil {
			err = src.Restore(ctx, path)
		}
		if err == nil {
			_, err = crashtest.Sound(path)
		}
		if err != nil {
			w.t.Errorf("the cut of %s at %d for %s: %v", name, base.TXID, child.id, err)
			continue
		}
		w.sum.Cuts++
		if strings.HasPrefix(name, "database-") {
			if got, want := dumpOf(w.t, path), child.get("/dump"); got != want {
				w.t.Errorf("the cut of %s at %d gives back %d bytes, %s begins with %d: %s", name, base.TXID, len(got), child.id, len(want), difference(got, want))
			}
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		w.t.Error(err)
	}
}

func difference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("%.80q and %.80q from byte %d", a[i:], b[i:], i)
}

// dumpOf is the worker's /dump of a database file.
func dumpOf(t interface {
	Helper()
	Fatal(...any)
}, path string,
) string {
	t.Helper()
	c, err := raw.Open(path, raw.Options{ReadOnly: true, Immutable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var lines []string
	var tables []string
	add := func(s *raw.Stmt) error {
		row := make([]any, s.Columns())
		for i := range row {
			if kind := s.ColumnType(i); kind == raw.Integer {
				row[i] = s.Int64(i)
			} else if kind == raw.Text { // NULL is nil; no other type occurs
				row[i] = s.Text(i)
			}
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false) // as JavaScript
		err := enc.Encode(row)
		lines = append(lines, strings.TrimSuffix(b.String(), "\n"))
		return err
	}
	err = c.Query(`SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' AND name NOT LIKE 'd1%' ORDER BY name`, nil, func(s *raw.Stmt) error {
		if strings.HasPrefix(s.Text(1), "CREATE TABLE") {
			tables = append(tables, s.Text(0))
		}
		return add(s)
	})
	for _, table := range tables {
		if err == nil {
			err = c.Query(`SELECT * FROM "`+table+`" ORDER BY rowid`, nil, add)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

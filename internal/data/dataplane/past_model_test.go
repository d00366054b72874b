package dataplane_test

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/test/crashtest"
)

// pastLog has the times of all writes of an actor: when write i began and was acknowledged, in microseconds, 0
// for never.
type pastLog struct{ began, acked []int64 }

// pastModel is the content that one actor has written.
type pastModel struct{ t, kv, r2 map[string]string }

func newPastModel() *pastModel {
	return &pastModel{map[string]string{}, map[string]string{}, map[string]string{}}
}

// replay is the content after write n of an actor.
func replay(actor string, n int) *pastModel {
	m := newPastModel()
	for i := 1; i <= n; i++ {
		ch := changeOf(actor, i)
		key, to := fmt.Sprint(ch.args[1]), m.t
		if ch.sys {
			to = m.kv
		}
		switch {
		case ch.body != nil:
			m.r2[key] = string(ch.body)
		case ch.drop:
			delete(m.r2, key)
		case len(ch.args) == 2:
			delete(to, key)
		default:
			to[key] = fmt.Sprint(ch.args[2])
		}
	}
	return m
}

// lastOf is the newest write of an actor, at most n, that goes to a database.
func lastOf(actor string, n int, sys bool) int {
	for ; n > 0 && changeOf(actor, n).sys != sys; n-- {
	}
	return n
}

// content is what a cut has: how far each actor is in both databases, and what it has written.
type content struct {
	main, sys map[string]int
	rows      map[string]*pastModel
}

func (c content) of(actor string) *pastModel {
	if c.rows[actor] == nil {
		c.rows[actor] = newPastModel()
	}
	return c.rows[actor]
}

// contentOf restores a cut.
func contentOf(t *testing.T, b objstore.Bucket, cuts map[string]branch.Cut) content {
	t.Helper()
	all := content{map[string]int{}, map[string]int{}, map[string]*pastModel{}}
	restoredOf(t, b, cuts, "database-main", func(each reader) {
		each(`SELECT actor, n FROM c`, func(s *raw.Stmt) { all.main[s.Text(0)] = int(s.Int64(1)) })
		each(`SELECT actor, k, v FROM t`, func(s *raw.Stmt) { all.of(s.Text(0)).t[fmt.Sprint(s.Int64(1))] = s.Text(2) })
	})
	restoredOf(t, b, cuts, "sys", func(each reader) {
		each(`SELECT actor, n FROM c`, func(s *raw.Stmt) { all.sys[s.Text(0)] = int(s.Int64(1)) })
		each(`SELECT actor, k, v FROM kv`, func(s *raw.Stmt) { all.of(s.Text(0)).kv[fmt.Sprint(s.Int64(1))] = s.Text(2) })
		each(`SELECT actor, k, blob FROM r2`, func(s *raw.Stmt) {
			body, _, err := objstore.Read(t.Context(), b, s.Text(2), 0, -1)
			if err != nil {
				t.Errorf("a body that a row names: %v", err)
			}
			all.of(s.Text(0)).r2[fmt.Sprint(s.Int64(1))] = string(body)
		})
	})
	return all
}

type reader func(query string, row func(*raw.Stmt))

// restoredOf restores one database of a cut, checks it and reads it. Before its schema it has no tables.
func restoredOf(t *testing.T, b objstore.Bucket, cuts map[string]branch.Cut, name string, read func(reader)) {
	t.Helper()
	cut, ok := cuts[name]
	if !ok || cut.TXID == 0 {
		return
	}
	src := must(replica.NewSource(t.Context(), b, must(branch.Plan(cut.Files, cut.TXID))))
	path := filepath.Join(t.TempDir(), "restored")
	if err := src.Restore(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	must(crashtest.Sound(path))
	c := must(raw.Open(path, raw.Options{}))
	tables := int64(0)
	err := c.Query(`SELECT count(*) FROM sqlite_schema WHERE name IN ('t', 'r2')`, nil, func(s *raw.Stmt) error { tables = s.Int64(0); return nil })
	if err == nil && tables > 0 {
		read(func(query string, row func(*raw.Stmt)) {
			if err == nil {
				err = c.Query(query, nil, func(s *raw.Stmt) error { row(s); return nil })
			}
		})
	}
	if err = errors.Join(err, c.Close(), cowvfs.Remove(path)); err != nil {
		t.Fatal(err)
	}
}

// pastRecord is what the actors have said.
type pastRecord struct {
	logs map[string]*pastLog
	lost map[string]int64 // actors whose last writes went with a machine, and when
}

// check compares a cut with the record, and reports whether it is one moment at a time.
func (r *pastRecord) check(t *testing.T, what string, got content, at time.Time) (bad bool) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Errorf(what+": "+format, args...)
		bad = true
	}
	us := at.UnixMicro()
	for actor, log := range r.logs {
		main, sys := got.main[actor], got.sys[actor]
		n := max(main, sys)
		if lost, ok := r.lost[actor]; ok && us > lost {
			continue // each database lost its own last writes with the machine, as async says
		}
		switch {
		case main != lastOf(actor, n, false) || sys != lastOf(actor, n, true):
			fail("%s: the databases have its writes %d and %d: not one moment", actor, main, sys)
			continue
		case n >= len(log.began):
			fail("%s: write %d was never said", actor, n)
			continue
		case n > 0 && log.began[n] > us+1000: // a point has milliseconds
			fail("%s: write %d began %d µs after the moment", actor, n, log.began[n]-us)
		case n+1 < len(log.acked) && log.acked[n+1] != 0 && log.acked[n+1] < us:
			fail("%s: write %d was acknowledged %d µs before the moment and is missing", actor, n+1, us-log.acked[n+1])
		}
		if want, has := replay(actor, n), got.of(actor); !maps.Equal(want.t, has.t) || !maps.Equal(want.kv, has.kv) || !maps.Equal(want.r2, has.r2) {
			fail("%s: after its write %d there are %d, %d, %d rows, keys, bodies; want %d, %d, %d, or others", actor, n,
				len(has.t), len(has.kv), len(has.r2), len(want.t), len(want.kv), len(want.r2))
		}
	}
	return bad
}

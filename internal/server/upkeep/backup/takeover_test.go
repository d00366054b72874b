package backup_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func accept(int) error { return nil }

// TestTakeOverRefused: a state with a schema that the caller refuses stays unchanged, and the process
// before appends as before.
func TestTakeOverRefused(t *testing.T) {
	t.Parallel()
	b := &memstore.Bucket{}
	ctx := t.Context()
	db, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	must(t, err)
	defer db.Close()
	exec(t, db, "PRAGMA user_version=14")
	one, err := backup.Open(ctx, b, "n", key, false)
	must(t, err)
	one.Exclusive("one")
	if _, err := one.Append(ctx, snapshot(t, db), nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	check := func(schema int) error {
		if schema != 14 {
			t.Errorf("schema %d", schema)
		}
		return refused
	}
	if _, err := backup.TakeOver(ctx, b, "n", key, "two", check); !errors.Is(err, refused) {
		t.Error(err)
	}
	exec(t, db, "CREATE TABLE t (x TEXT)")
	if _, err := one.Append(ctx, snapshot(t, db), nil, time.Now()); err != nil {
		t.Errorf("the process before: %v", err)
	}
}

// TestTakeOver: after a takeover the process before cannot append, and what it appended before is
// in the state of the one that took over.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	b := &memstore.Bucket{}
	ctx := t.Context()
	db, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	must(t, err)
	defer db.Close()
	exec(t, db, "CREATE TABLE t (x TEXT)")
	stateOf := func(text string) []byte { exec(t, db, "INSERT INTO t VALUES (?)", text); return snapshot(t, db) }
	one, err := backup.Open(ctx, b, "n", key, false)
	if err != nil {
		t.Fatal(err)
	}
	one.Exclusive("one")
	first, second, third := stateOf("first"), stateOf("second"), stateOf("third")
	for _, db := range [][]byte{first, second} {
		if _, err := one.Append(ctx, db, nil, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	state, err := backup.TakeOver(ctx, b, "n", key, "two", accept)
	if err != nil || !bytes.Equal(state.Database, second) {
		t.Fatalf("%v; the state is the last one: %v", err, state != nil && bytes.Equal(state.Database, second))
	}
	if _, err := one.Append(ctx, third, nil, time.Now()); !errors.Is(err, backup.ErrTaken) {
		t.Errorf("the process before: %v", err)
	}
	two, err := backup.Open(ctx, b, "n", key, false)
	if err != nil {
		t.Fatal(err)
	}
	two.Exclusive("two")
	if _, err := two.Append(ctx, third, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	if state, err = backup.Read(ctx, b, "n", key); err != nil || !bytes.Equal(state.Database, third) {
		t.Errorf("the newest state: %v", err)
	}
}

// TestSync: Sync returns when the changes before it are stored, long before the window; without the
// object store it returns the error. A Service whose copies another one continues says so once.
func TestSync(t *testing.T) {
	t.Parallel()
	b := &memstore.Bucket{}
	db := registrytest.Open(t, "first")
	taken := make(chan struct{})
	c := backup.Config{Registry: db, Bucket: b, Node: "n", Key: key, Window: time.Hour, Logger: slog.New(slog.DiscardHandler), Writer: "one", Taken: func() { close(taken) }}
	s := backup.Start(t.Context(), c)
	for _, project := range []string{"second", "third"} {
		registrytest.AddProject(t, db, project)
		must(t, s.Sync(t.Context()))
		state, err := backup.Read(t.Context(), b, "n", key)
		must(t, err)
		if !bytes.Contains(state.Database, []byte(project)) {
			t.Errorf("%s is not stored", project)
		}
	}
	before := s.Copied()
	must(t, s.Sync(t.Context()))
	if !s.Copied().Equal(before) {
		t.Error("a call that changed nothing made a copy")
	}
	if _, err := backup.TakeOver(t.Context(), b, "n", key, "two", accept); err != nil {
		t.Fatal(err)
	}
	registrytest.AddProject(t, db, "late")
	if err := s.Sync(t.Context()); err == nil {
		t.Error("a change is stored after another server has taken over")
	}
	svctest.Wait(t, "the news of it", taken)
	state, err := backup.Read(t.Context(), b, "n", key)
	must(t, err)
	if bytes.Contains(state.Database, []byte("late")) {
		t.Error("the late change is in the copies")
	}
	_ = s.Stop(t.Context())

	c.Bucket, c.Writer = down{b}, "three"
	s = backup.Start(t.Context(), c)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Sync(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without an object store: %v", err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	_ = s.Stop(ended)
}

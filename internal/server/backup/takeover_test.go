package backup_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/server/backup"
)

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
	state, err := backup.TakeOver(ctx, b, "n", key, "two")
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

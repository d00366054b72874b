package registry

import (
	"context"
	"database/sql"
	"sync"

	"github.com/svcctl/svcctl/internal/data/sqlite"
)

// watchedFile announces each write transaction.
type watchedFile struct {
	*sqlite.DB

	mu      sync.Mutex
	changed chan struct{}
}

func watch(file *sqlite.DB) *watchedFile {
	return &watchedFile{DB: file, changed: make(chan struct{})}
}

// InTx is that of sqlite.DB. It stores the audit draft of ctx with the change. The
// announcement follows the commit.
func (f *watchedFile) InTx(ctx context.Context, fn func(*sql.Tx) error) error {
	err := f.DB.InTx(ctx, drafted(ctx, fn))
	if err == nil {
		f.mu.Lock()
		close(f.changed)
		f.changed = make(chan struct{})
		f.mu.Unlock()
	}
	return err
}

// Changed returns a channel that the end of the next write transaction closes. What is
// read after the call of Changed and before its channel closes may miss that
// transaction only.
func (db *DB) Changed() <-chan struct{} {
	db.file.mu.Lock()
	defer db.file.mu.Unlock()
	return db.file.changed
}

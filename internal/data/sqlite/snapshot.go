package sqlite

import (
	"context"
	"fmt"
)

// serializer is a connection of the driver.
type serializer interface{ Serialize() ([]byte, error) }

// Snapshot returns the file as of the last commit, its write-ahead log included. Writers
// continue meanwhile. It needs memory for the file twice.
func (db *DB) Snapshot(ctx context.Context) (file []byte, err error) {
	conn, err := db.read.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("snapshot of %s: %w", db.path, err)
	}
	defer func() { _ = conn.Close() }() // returns it to the pool
	err = conn.Raw(func(driver any) error {
		s, ok := driver.(serializer)
		if !ok {
			return fmt.Errorf("%T cannot serialize", driver)
		}
		file, err = s.Serialize()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("snapshot of %s: %w", db.path, err)
	}
	return file, nil
}

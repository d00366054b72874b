package kv

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
)

const (
	sweepAtOpen = 10_000 // expired rows that opening a namespace removes at most
	sweepAtPut  = 20     // expired rows that a put removes at most
)

// namespace is one namespace: an Instance.
type namespace struct {
	id    int64
	db    volume.Database
	cache cache
}

func open(ctx context.Context, name string, db volume.Database) (*namespace, error) {
	n := &namespace{db: db, cache: cache{db: db}}
	err := db.Write(ctx, func(c *raw.Conn) (err error) {
		n.id, err = prepare(c, name, time.Now().Unix())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening the namespace %q: %w", name, err)
	}
	return n, nil
}

// Close leaves the database to its owner.
func (n *namespace) Close() error { return nil }

// entry is one value. metadata is JSON, "" for none.
type entry struct {
	found    bool
	metadata string
	value    []byte
	expires  int64 // seconds since 1970; 0 means never
}

// metadataOf is stored metadata, "" if it is not JSON: earlier releases stored such metadata,
// and no worker could list keys with it.
func metadataOf(text string) string {
	if text != "" && !json.Valid([]byte(text)) {
		return ""
	}
	return text
}

// get returns the entry of key, whose value is not to be changed.
func (n *namespace) get(ctx context.Context, key string, large *binding.Large) (entry, error) {
	return n.cache.get(ctx, key, time.Now().Unix(), func() (e entry, err error) {
		err = n.db.Read(ctx, func(c *raw.Conn) error {
			e, err = n.read(ctx, c, key, large)
			return err
		})
		return e, err
	})
}

// read waits for large before it copies a large value.
func (n *namespace) read(ctx context.Context, c *raw.Conn, key string, large *binding.Large) (e entry, err error) {
	err = c.Query(sqlGet, []any{n.id, key, time.Now().Unix()}, func(s *raw.Stmt) error {
		if len(s.View(1)) > binding.LargeSize {
			if err := large.Acquire(ctx); err != nil {
				return err
			}
		}
		e = entry{found: true, metadata: metadataOf(s.Text(0)), value: s.Blob(1), expires: s.Int64(2)}
		return nil
	})
	return e, err
}

// put stores e under key.
func (n *namespace) put(ctx context.Context, key string, e entry) error {
	var expiration, metadata any
	if e.expires != 0 {
		expiration = e.expires
	}
	if e.metadata != "" {
		metadata = e.metadata
	}
	return n.db.Write(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			if err := c.Exec(sqlSweep, time.Now().Unix(), sweepAtPut); err != nil {
				return err
			}
			return c.Exec(sqlPut, n.id, key, expiration, metadata, e.value)
		})
	})
}

func (n *namespace) remove(ctx context.Context, key string) error {
	return n.db.Write(ctx, func(c *raw.Conn) error { return c.Exec(sqlDelete, n.id, key) })
}

// listed is one key of a page, as workerd reads it.
type listed struct {
	Name       string `json:"name"`
	Expiration int64  `json:"expiration,omitempty"` // seconds since 1970
	Metadata   string `json:"metadata,omitempty"`   // JSON in a string
}

// list gives up to limit keys that begin with prefix and come after after, in
// the order of their bytes.
func (n *namespace) list(ctx context.Context, prefix, after string, limit int) (keys []listed, err error) {
	now := time.Now().Unix()
	text, args := sqlListAll, []any{n.id, after, now, limit}
	if prefix != "" {
		var end any
		if next, bounded := beyond(prefix); bounded {
			end = next
		}
		text, args = sqlList, []any{n.id, after, prefix, end, now, limit}
	}
	err = n.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(text, args, func(s *raw.Stmt) error {
			keys = append(keys, listed{s.Text(0), s.Int64(1), metadataOf(s.Text(2))})
			return nil
		})
	})
	return keys, err
}

// beyond is the least string above all that begin with prefix, compared by
// bytes; bounded is false if no such key exists.
func beyond(prefix string) (end string, bounded bool) {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1]), true
		}
	}
	return "", false
}

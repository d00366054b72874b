//go:build simulate

package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

var (
	errInjected = errors.New("injected fault")
	errDead     = errors.New("this process is dead")
)

// request is a request that the object store has received and not answered.
type request struct {
	process *process
	op      string // put, get, stat, list or delete
	key     string // or the prefix
	number  int    // among equal requests of the process

	body   []byte
	cond   objstore.Condition
	off, n int64
	after  string
	limit  int
	keys   []string

	notBefore time.Time
	left      bool // the caller does not wait any more: a late effect
	done      chan struct{}

	err  error
	info objstore.Info
	page []objstore.Info
	data []byte
}

func (r *request) name() string { return r.process.name + " " + r.op + " " + r.key }

// changes reports whether the request has an effect.
func (r *request) changes() bool { return r.op == "put" || r.op == "delete" }

// bucket is the way of one process to the object store.
type bucket struct {
	w *world
	p *process
}

var _ objstore.Bucket = bucket{}

// send waits until the request is answered. A caller that stops waiting does not cancel the effect: the
// request is on its way.
func (b bucket) send(ctx context.Context, r *request) error {
	w := b.w
	r.process, r.done = b.p, make(chan struct{})
	w.mu.Lock()
	if b.p.dead {
		w.mu.Unlock()
		return errDead
	}
	w.sent[r.name()]++
	r.number = w.sent[r.name()]
	w.pending = append(w.pending, r)
	w.mu.Unlock()
	var err error
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-b.p.killed:
		err = errDead
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r.left = true
	return err
}

func (b bucket) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	data, err := io.ReadAll(body)
	if err != nil || size >= 0 && int64(len(data)) != size {
		return objstore.Info{}, fmt.Errorf("read body: %d of %d bytes, %w", len(data), size, err)
	}
	r := &request{op: "put", key: key, body: data, cond: cond}
	err = b.send(ctx, r)
	return r.info, err
}

func (b bucket) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	r := &request{op: "get", key: key, off: off, n: n}
	if err := b.send(ctx, r); err != nil {
		return nil, objstore.Info{}, err
	}
	return io.NopCloser(bytes.NewReader(r.data)), r.info, nil
}

func (b bucket) Stat(ctx context.Context, key string) (objstore.Info, error) {
	r := &request{op: "stat", key: key}
	err := b.send(ctx, r)
	return r.info, err
}

func (b bucket) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	r := &request{op: "list", key: prefix, after: after, limit: limit}
	err := b.send(ctx, r)
	return r.page, err
}

func (b bucket) Delete(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	return b.send(ctx, &request{op: "delete", key: keys[0], keys: slices.Clone(keys)})
}

package objstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "probe", "deep/probe/"} {
		mem := new(memstore.Bucket)
		b := objstoretest.NewFaulty(mem, objstoretest.Faults{}, 1) // counts requests
		if err := objstore.Probe(t.Context(), b, prefix); err != nil {
			t.Error(err)
		}
		if n := b.Puts.Load() + b.Gets.Load() + b.Lists.Load() + b.Stats.Load(); n != 16 { // without the deletion
			t.Errorf("%d requests", n)
		}
		isEmpty(t, mem)
	}
}

func isEmpty(t *testing.T, b objstore.Bucket) {
	t.Helper()
	if left, err := objstore.ListAll(t.Context(), b, ""); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// odd is an object store that violates the contract.
type odd struct {
	*memstore.Bucket
	put  func(o *odd, key string, data []byte, cond objstore.Condition) (objstore.Info, error)
	get  func(off, n int64) (int64, int64)
	list func(o *odd, prefix string) []objstore.Info
	etag string // on GET

	mu      sync.Mutex
	racers  sync.WaitGroup
	arrived int
}

func (o *odd) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	if o.put == nil {
		return o.Bucket.Put(ctx, key, body, size, cond)
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return objstore.Info{}, err
	}
	return o.put(o, key, data, cond)
}

func (o *odd) mem(key string, data []byte, cond objstore.Condition) (objstore.Info, error) {
	return o.Bucket.Put(context.Background(), key, bytes.NewReader(data), int64(len(data)), cond)
}

func (o *odd) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	if o.get != nil {
		off, n = o.get(off, n)
	}
	r, info, err := o.Bucket.Get(ctx, key, off, n)
	if o.etag != "" {
		info.ETag = o.etag
	}
	return r, info, err
}

func (o *odd) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	if o.list != nil {
		return o.list(o, prefix), nil
	}
	return o.Bucket.List(ctx, prefix, after, limit)
}

// severalWinners shows an empty bucket to the eight racers, and honors the condition later.
func severalWinners(o *odd, key string, data []byte, cond objstore.Condition) (objstore.Info, error) {
	o.mu.Lock()
	o.arrived++
	racing := o.arrived <= 8
	o.mu.Unlock()
	if racing {
		o.racers.Done()
		o.racers.Wait()
		cond = objstore.Condition{}
	}
	return o.mem(key, data, cond)
}

func sameBytesAgain(o *odd, key string, data []byte, cond objstore.Condition) (objstore.Info, error) {
	info, err := o.mem(key, data, cond)
	if there, old, _ := objstore.Read(context.Background(), o.Bucket, key, 0, -1); cond.IfAbsent && bytes.Equal(there, data) {
		return old, nil
	}
	return info, err
}

func TestProbeReportsViolations(t *testing.T) {
	t.Parallel()
	refused := objstore.ErrPrecondition
	for name, c := range map[string]struct {
		store *odd
		want  string
	}{
		"no if-none-match": {&odd{put: func(o *odd, key string, data []byte, cond objstore.Condition) (objstore.Info, error) {
			cond.IfAbsent = false
			return o.mem(key, data, cond)
		}}, "the object store ignores If-None-Match on PUT: two writers would overwrite each other"},
		"several winners":        {&odd{put: severalWinners}, "the object store let 8 of 8 concurrent writers create one key"},
		"creates the same again": {&odd{put: sameBytesAgain}, "the object store accepts the same bytes twice under If-None-Match"},
		"creates nothing": {&odd{put: func(*odd, string, []byte, objstore.Condition) (objstore.Info, error) {
			return objstore.Info{}, refused
		}}, "the object store rejects a new key"},
		"no if-match": {&odd{put: func(o *odd, key string, data []byte, cond objstore.Condition) (objstore.Info, error) {
			cond.IfMatch = ""
			return o.mem(key, data, cond)
		}}, "the object store ignores If-Match on PUT"},
		"no match ever": {&odd{put: func(o *odd, key string, data []byte, cond objstore.Condition) (objstore.Info, error) {
			if cond.IfMatch != "" {
				return objstore.Info{}, refused
			}
			return o.mem(key, data, cond)
		}}, "the object store rejects If-Match on PUT with the right ETag"},
		"no etag": {&odd{put: func(o *odd, key string, data []byte, cond objstore.Condition) (objstore.Info, error) {
			info, err := o.mem(key, data, cond)
			info.ETag = ""
			return info, err
		}}, "the object store returns no ETag"},
		"no ranges":       {&odd{get: func(int64, int64) (int64, int64) { return 0, -1 }}, "the object store does not answer range reads exactly"},
		"one too many":    {&odd{get: func(off, n int64) (int64, int64) { return off, n + 1 }}, "range reads"},
		"no open range":   {&odd{get: func(off, n int64) (int64, int64) { return off, max(n, 1) }}, "range reads"},
		"etag of a proxy": {&odd{etag: "W/x"}, "the object store describes an object differently on GET than on PUT"},
		"late list":       {&odd{list: func(*odd, string) []objstore.Info { return nil }}, "the object store does not list an object just written"},
		"list of deleted objects": {&odd{list: func(_ *odd, prefix string) []objstore.Info {
			return []objstore.Info{{Key: prefix + "object", Size: 64}}
		}}, "the object store lists a deleted object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := c.store
			b.Bucket = new(memstore.Bucket)
			b.racers.Add(8)
			err := objstore.Probe(t.Context(), b, "probe")
			var found *objstore.ProbeError
			if !errors.As(err, &found) || !strings.HasPrefix(err.Error(), "the object store ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			isEmpty(t, b.Bucket)
		})
	}
}

// TestProbeWithFaults: a failed request is not a violation of the contract.
func TestProbeWithFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		mem := new(memstore.Bucket)
		b := objstoretest.NewFaulty(mem, objstoretest.Faults{Before: .2}, seed)
		err := objstore.Probe(t.Context(), b, "probe")
		var found *objstore.ProbeError
		if errors.As(err, &found) || err == nil && b.Injected.Load() > 7 || err != nil && !errors.Is(err, objstoretest.ErrInjected) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := objstoretest.NewFaulty(new(memstore.Bucket), objstoretest.Faults{}, 1)
	if err := objstore.Probe(ctx, b, "probe"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

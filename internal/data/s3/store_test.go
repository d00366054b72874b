package s3_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
)

var seed = flag.Uint64("faults.seed", uint64(time.Now().UnixNano()), "seed of the tests with faults")

func TestMain(m *testing.M) { s3test.Main(m, nil) }

// TestContract runs against the embedded object store, or with make test-s3 any other.
func TestContract(t *testing.T) {
	t.Parallel()
	b, _ := s3test.Bucket(t, s3test.Target(t))
	objstoretest.Run(t, b)
}

// behind returns a bucket behind a proxy.
func behind(t *testing.T) (*s3fault.Proxy, *s3.Bucket) {
	t.Helper()
	c := s3test.Target(t)
	p := s3fault.Start(t, c.Endpoint)
	c.Endpoint = p.Endpoint()
	b, _ := s3test.Bucket(t, c)
	t.Logf("seed %d", *seed)
	t.Cleanup(func() {
		n := p.Counts()
		t.Logf("%d faults in %d requests: %v", n.Injected(), n.Total(), n.Faults)
		if n.Injected() == 0 {
			t.Error("nothing failed")
		}
		p.Set(s3fault.Faults{}) // so that the bucket can be emptied
	})
	return p, b
}

// TestRetries: the client repeats requests that failed before they reached the
// object store, without an error for the caller.
func TestRetries(t *testing.T) {
	t.Parallel()
	p, b := behind(t)
	p.Set(s3fault.Faults{
		Seed: *seed, Rate: .3, Slow: 10 * time.Millisecond,
		Kinds: []s3fault.Kind{s3fault.ServerError, s3fault.SlowDown, s3fault.ResetBefore, s3fault.TornUpload, s3fault.SlowUpload, s3fault.SlowDownload},
		Match: func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Amz-Sdk-Request"), "attempt=1") },
	})
	objstoretest.Run(t, b)
}

// TestSettles: with Settle and Read the contract holds while three requests of ten
// fail in every way but stale listings, which the contract excludes.
func TestSettles(t *testing.T) {
	t.Parallel()
	p, b := behind(t)
	p.Set(s3fault.Faults{
		Seed: *seed, Rate: .3, Slow: 10 * time.Millisecond, Delay: 10 * time.Millisecond,
		Kinds: slices.DeleteFunc(s3fault.All(), func(k s3fault.Kind) bool { return k == s3fault.StaleList }),
	})
	objstoretest.Run(t, patient{b, p})
}

// patient repeats requests until they are answered, as callers of a Bucket do.
type patient struct {
	objstore.Bucket
	proxy *s3fault.Proxy
}

// insist calls do, with a short deadline each, until the answer is final.
func insist(ctx context.Context, do func(context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		err := do(attempt)
		cancel()
		if err == nil || errors.Is(err, objstore.ErrNotExist) || errors.Is(err, objstore.ErrPrecondition) || errors.Is(err, objstore.ErrShort) || ctx.Err() != nil {
			return err
		}
	}
}

func (b patient) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (info objstore.Info, err error) {
	data, err := io.ReadAll(body)
	if err != nil || size >= 0 && int64(len(data)) != size {
		return info, fmt.Errorf("a body of %d bytes instead of %d: %w", len(data), size, err)
	}
	err = insist(ctx, func(ctx context.Context) error {
		if cond == (objstore.Condition{}) {
			info, err = b.Bucket.Put(ctx, key, bytes.NewReader(data), -1, cond)
		} else {
			info, err = objstore.SettleBytes(ctx, b.Bucket, key, data, cond)
		}
		return err
	})
	if cond == (objstore.Condition{}) {
		b.proxy.Wait() // a late unconditional write would overwrite the next one
	}
	return info, err
}

func (b patient) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	var data []byte
	var info objstore.Info
	err := insist(ctx, func(ctx context.Context) (err error) {
		data, info, err = objstore.Read(ctx, b.Bucket, key, off, n)
		return err
	})
	return io.NopCloser(bytes.NewReader(data)), info, err
}

func (b patient) Stat(ctx context.Context, key string) (info objstore.Info, err error) {
	err = insist(ctx, func(ctx context.Context) error {
		info, err = b.Bucket.Stat(ctx, key)
		return err
	})
	return info, err
}

func (b patient) List(ctx context.Context, prefix, after string, limit int) (page []objstore.Info, err error) {
	err = insist(ctx, func(ctx context.Context) error {
		page, err = b.Bucket.List(ctx, prefix, after, limit)
		return err
	})
	return page, err
}

func (b patient) Delete(ctx context.Context, keys ...string) error {
	return insist(ctx, func(ctx context.Context) error { return b.Bucket.Delete(ctx, keys...) })
}

// TestNoAnswer: a request that is not answered is sent again.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	for _, kind := range []s3fault.Kind{s3fault.Hang, s3fault.HangAfter} {
		c := s3test.Target(t)
		p := s3fault.Start(t, c.Endpoint)
		c.Endpoint, c.AnswerTimeout = p.Endpoint(), time.Second
		b, _ := s3test.Bucket(t, c)
		p.Next(kind)
		if _, err := b.Put(t.Context(), "k", strings.NewReader("hello"), 5, objstore.Condition{}); err != nil {
			t.Errorf("%v: %v", kind, err)
		}
		p.Next(kind)
		if info, err := b.Stat(t.Context(), "k"); err != nil || info.Size != 5 {
			t.Errorf("%v: %+v, %v", kind, info, err)
		}
		if n := p.Counts(); n.Faults[kind] != 2 {
			t.Errorf("%v: %v", kind, n.Faults)
		}
	}
}

// TestProbe: the object store passes the probe.
func TestProbe(t *testing.T) {
	t.Parallel()
	b, _ := s3test.Bucket(t, s3test.Target(t))
	if err := objstore.Probe(t.Context(), b, "probe"); err != nil {
		t.Error(err)
	}
}

// TestProbeOverABadNetwork: faults of the network are not violations of the object
// store.
func TestProbeOverABadNetwork(t *testing.T) {
	t.Parallel()
	target := s3test.Target(t)
	p := s3fault.Start(t, target.Endpoint)
	target.Endpoint = p.Endpoint()
	b, _ := s3test.Bucket(t, target)
	for name, faults := range map[string][]s3fault.Kind{
		"every racer":  slices.Repeat([]s3fault.Kind{s3fault.ResetAfter}, 8),
		"the creators": append(slices.Repeat([]s3fault.Kind{s3fault.None}, 8), s3fault.ResetAfter, s3fault.ResetAfter),
		"the swaps":    append(slices.Repeat([]s3fault.Kind{s3fault.None}, 10), s3fault.ResetAfter, s3fault.None, s3fault.ResetAfter),
		"the reads":    append(slices.Repeat([]s3fault.Kind{s3fault.None}, 12), s3fault.TornDownload, s3fault.ResetAfter),
	} {
		p.Set(s3fault.Faults{})
		p.Next(faults...)
		var found *objstore.ProbeError
		if err := objstore.Probe(t.Context(), b, "probe"); errors.As(err, &found) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

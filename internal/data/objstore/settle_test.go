package objstore_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
)

func TestSettle(t *testing.T) {
	t.Parallel()
	create := objstore.Condition{IfAbsent: true}
	for name, c := range map[string]struct {
		faults objstoretest.Faults
		there  string
		cond   objstore.Condition
		want   error
	}{
		"sound":                         {cond: create},
		"fails before":                  {faults: objstoretest.Faults{Before: .7}, cond: create},
		"fails after":                   {faults: objstoretest.Faults{After: .7}, cond: create},
		"conflicts":                     {faults: objstoretest.Faults{Conflict: .7}, cond: create},
		"everything":                    {faults: objstoretest.Faults{Before: .3, After: .3, Conflict: .3, Torn: .3}, cond: create},
		"its own object exists":         {there: "body", cond: create},
		"another object exists":         {there: "else", cond: create, want: objstore.ErrPrecondition},
		"another object exists, faults": {there: "longer", faults: objstoretest.Faults{Before: .5, Torn: .5, Conflict: .5}, cond: create, want: objstore.ErrPrecondition},
		"no such ETag":                  {there: "else", cond: objstore.Condition{IfMatch: "x"}, want: objstore.ErrPrecondition},
		"nothing to match":              {cond: objstore.Condition{IfMatch: "x"}, want: objstore.ErrPrecondition},
		"never answers, ends unknown":   {faults: objstoretest.Faults{Hang: 1}, cond: create, want: context.DeadlineExceeded},
		"rejected, and unreadable":      {there: "else", faults: objstoretest.Faults{Torn: 1}, cond: create, want: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				mem := new(memstore.Bucket)
				if c.there != "" {
					if _, err := mem.Put(t.Context(), "k", strings.NewReader(c.there), -1, objstore.Condition{}); err != nil {
						t.Fatal(err)
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				b := objstoretest.NewFaulty(mem, c.faults, 3)
				info, err := objstore.SettleBytes(ctx, b, "k", []byte("body"), c.cond)
				if !errors.Is(err, c.want) || c.want == nil && (err != nil || info.Size != 4 || info.ETag == "") {
					t.Fatalf("%+v, %v, want %v", info, err, c.want)
				}
				if c.want != nil && errors.Is(err, objstore.ErrPrecondition) != errors.Is(c.want, objstore.ErrPrecondition) {
					t.Errorf("an unknown outcome looks like a rejection: %v", err)
				}
				data, _, err := objstore.Read(t.Context(), mem, "k", 0, -1)
				if c.want == nil && (err != nil || string(data) != "body") {
					t.Errorf("stored %q, %v", data, err)
				}
			})
		})
	}
}

func TestSettleSwaps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := objstoretest.NewFaulty(new(memstore.Bucket), objstoretest.Faults{Before: .2, After: .2, Conflict: .2, Torn: .2}, 5)
		cond := objstore.Condition{IfAbsent: true}
		for i := range 200 {
			info, err := objstore.SettleBytes(t.Context(), b, "k", []byte(strings.Repeat("x", i)), cond)
			if err != nil {
				t.Fatal(err)
			}
			cond = objstore.Condition{IfMatch: info.ETag}
		}
		if _, err := objstore.SettleBytes(t.Context(), b, "k", nil, objstore.Condition{}); err == nil {
			t.Error("settled without a condition")
		}
	})
}

func TestReadAndListAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mem := new(memstore.Bucket)
		if _, err := mem.Put(t.Context(), "k", strings.NewReader("0123456789"), 10, objstore.Condition{}); err != nil {
			t.Fatal(err)
		}
		b := objstoretest.NewFaulty(mem, objstoretest.Faults{Before: .3, Torn: .3}, 1)
		if data, info, err := objstore.Read(t.Context(), b, "k", 2, 3); err != nil || string(data) != "234" || info.Size != 10 {
			t.Errorf("%q, %+v, %v", data, info, err)
		}
		for _, off := range []int64{8, 20} {
			if _, info, err := objstore.Read(t.Context(), mem, "k", off, 3); !errors.Is(err, objstore.ErrShort) || info.Size != 10 {
				t.Errorf("beyond the end, from %d: %+v, %v", off, info, err)
			}
		}
		torn := objstoretest.NewFaulty(mem, objstoretest.Faults{Torn: 1}, 1)
		if _, info, err := objstore.Read(t.Context(), torn, "k", 2, 3); !errors.Is(err, objstore.ErrTorn) || errors.Is(err, objstore.ErrShort) || info.Size != 10 {
			t.Errorf("bodies end early: %+v, %v", info, err)
		}
		if _, _, err := objstore.Read(t.Context(), mem, "none", 0, -1); !errors.Is(err, objstore.ErrNotExist) {
			t.Errorf("absent: %v", err)
		}
		if infos, err := objstore.ListAll(t.Context(), b, ""); err != nil || len(infos) != 1 {
			t.Errorf("%+v, %v", infos, err)
		}
	})
}

// stalling answers, but then sends nothing, every other time.
type stalling struct {
	objstore.Bucket
	gets int
}

func (s *stalling) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	r, info, err := s.Bucket.Get(ctx, key, off, n)
	if s.gets++; err == nil && s.gets%2 == 1 {
		return stalled{r, ctx}, info, nil
	}
	return r, info, err
}

type stalled struct {
	io.ReadCloser
	ctx context.Context
}

func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// TestHungRequests: a request that is not answered, or a body that stops, is
// canceled and made again, also for callers without a deadline.
func TestHungRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mem := new(memstore.Bucket)
		if _, err := mem.Put(t.Context(), "k", strings.NewReader("0123456789"), 10, objstore.Condition{}); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string]objstore.Bucket{
			"no answer": objstoretest.NewFaulty(mem, objstoretest.Faults{Hang: .4}, 1),
			"no body":   &stalling{Bucket: mem},
		} {
			for _, n := range []int64{3, -1} {
				if data, _, err := objstore.Read(t.Context(), b, "k", 7, n); err != nil || string(data) != "789" {
					t.Errorf("%s: %q, %v", name, data, err)
				}
			}
			if infos, err := objstore.ListAll(t.Context(), b, ""); err != nil || len(infos) != 1 {
				t.Errorf("%s: %v, %v", name, infos, err)
			}
			if _, err := objstore.SettleBytes(t.Context(), b, "k", []byte("0123456789"), objstore.Condition{IfAbsent: true}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestReadCanceled: a canceled read does not report a torn object.
func TestReadCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mem := new(memstore.Bucket)
		if _, err := mem.Put(t.Context(), "k", strings.NewReader("0123456789"), 10, objstore.Condition{}); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string]objstore.Bucket{
			"torn": objstoretest.NewFaulty(mem, objstoretest.Faults{Torn: 1}, 1), "no body": &stalling{Bucket: mem},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			_, _, err := objstore.Read(ctx, b, "k", 0, -1)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, objstore.ErrTorn) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

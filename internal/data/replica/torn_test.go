package replica_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
)

// tornBucket sends half of each body whose key has a part.
type tornBucket struct {
	objstore.Bucket
	part string
}

func (b *tornBucket) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	r, info, err := b.Bucket.Get(ctx, key, off, n)
	if err != nil || !strings.Contains(key, b.part) {
		return r, info, err
	}
	data, err := io.ReadAll(r)
	return io.NopCloser(bytes.NewReader(data[:len(data)/2])), info, err
}

func isDamage(err error) bool {
	var damaged *replica.CorruptError
	return errors.As(err, &damaged)
}

// TestBodiesEndEarly: bodies that end early, however often, are no damage of a file, whether it is read
// whole or in parts. A file that has another length than the listing says is damaged, also then.
func TestBodiesEndEarly(t *testing.T) {
	t.Parallel()
	for _, size := range []int{8, 3000} {
		data, key, _ := noisy(t, size)
		synctest.Test(t, func(t *testing.T) {
			mem, path := new(memstore.Bucket), filepath.Join(t.TempDir(), "db")
			put(t, mem, key, data)
			l := open(t, &tornBucket{mem, ""}, "v", nil)
			if err := l.Restore(t.Context(), 1, path); !errors.Is(err, objstore.ErrTorn) || isDamage(err) {
				t.Errorf("%d pages: %v", size, err)
			}
			must(t, mem.Delete(t.Context(), key))
			put(t, mem, key, append(bytes.Clone(data), 0))
			if err := l.Restore(t.Context(), 1, path); !isDamage(err) {
				t.Errorf("%d pages, a longer file: %v", size, err)
			}
		})
	}
}

// TestMergeFindsUnreadable: a merge that finds an object in its place, and cannot read it, does not call
// it damaged.
func TestMergeFindsUnreadable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mem, m := new(memstore.Bucket), newModel(6)
		b := &tornBucket{mem, "/ltx/0001/"}
		l := open(t, b, "v", nil)
		appendN(t, l, m, 4)
		put(t, mem, branch.File{Prefix: "p/v/db/main", Level: 1, Min: 1, Max: 4}.Key(), []byte("something else"))
		if _, err := l.Compact(t.Context(), replica.Policy{Files: 4}); !errors.Is(err, objstore.ErrTorn) || isDamage(err) {
			t.Errorf("got %v", err)
		}
	})
}

package rescue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// broken is a bucket whose writes fail until a time.
type broken struct {
	memstore.Bucket

	err   error
	until time.Time
}

func (b *broken) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	if time.Now().Before(b.until) {
		return objstore.Info{}, fmt.Errorf("put %s: %w", key, b.err)
	}
	return b.Bucket.Put(ctx, key, body, size, cond)
}

// answered is the error of an object store that answers.
type answered int

func (a answered) Error() string       { return http.StatusText(int(a)) }
func (a answered) HTTPStatusCode() int { return int(a) }

// TestFinite: a write that no wait cures ends immediately; another one is repeated for a bounded time,
// and a line says what is waited for.
func TestFinite(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err      error
		heals    time.Duration
		min, max time.Duration
		lines    int
		fails    bool
	}{
		"disk full":      {syscall.ENOSPC, time.Hour, 0, 0, 0, true},
		"quota":          {syscall.EDQUOT, time.Hour, 0, 0, 0, true},
		"read-only":      {syscall.EROFS, time.Hour, 0, 0, 0, true},
		"no rights":      {syscall.EACCES, time.Hour, 0, 0, 0, true},
		"wrong key":      {answered(http.StatusForbidden), time.Hour, 0, 0, 0, true},
		"no bucket":      {answered(http.StatusNotFound), time.Hour, 0, 0, 0, true},
		"busy for long":  {answered(http.StatusServiceUnavailable), time.Hour, patience, patience + 5*time.Second, 6, true},
		"busy":           {answered(http.StatusTooManyRequests), 30 * time.Second, 30 * time.Second, 35 * time.Second, 2, false},
		"no connection":  {syscall.ECONNREFUSED, 5 * time.Second, 5 * time.Second, 10 * time.Second, 1, false},
		"hangs for long": {context.DeadlineExceeded, time.Hour, patience, patience + 5*time.Second, 6, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var lines []string
				b := &finite{Bucket: &broken{err: tc.err, until: began.Add(tc.heals)}, notef: func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }}
				_, err := objstore.SettleBytes(t.Context(), b, "k", []byte("x"), objstore.Condition{IfAbsent: true})
				took := time.Since(began)
				if took < tc.min || took > tc.max || errors.Is(err, tc.err) != tc.fails || (err != nil) != tc.fails {
					t.Errorf("%v after %s", err, took)
				}
				if len(lines) != tc.lines || len(lines) > 0 && !strings.Contains(lines[0], tc.err.Error()) {
					t.Errorf("said %q", lines)
				}
			})
		})
	}
}

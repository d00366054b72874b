package dial

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestFirst: while an attempt has no answer, another one begins. The first connection is used, others are
// closed, and a refusal counts when nothing else is under way.
func TestFirst(t *testing.T) {
	t.Parallel()
	errRefused := errors.New("refused")
	type answer struct {
		after time.Duration
		err   error
	}
	for name, c := range map[string]struct {
		answers []answer
		want    error
		took    time.Duration
		calls   int
		closed  int // of the connections that are not used
	}{
		"immediately":          {[]answer{{after: time.Millisecond}}, nil, time.Millisecond, 1, 0},
		"refused":              {[]answer{{time.Millisecond, errRefused}}, errRefused, time.Millisecond, 1, 0},
		"the second is faster": {[]answer{{after: time.Hour}, {after: time.Millisecond}}, nil, again + time.Millisecond, 2, 1},
		"the first is faster":  {[]answer{{after: again + time.Millisecond}, {after: time.Second}}, nil, again + time.Millisecond, 2, 1},
		"refused meanwhile":    {[]answer{{after: time.Hour}, {time.Millisecond, errRefused}, {after: time.Millisecond}}, nil, 2*again + time.Millisecond, 3, 1},
		"all in vain":          {[]answer{{again + 2, errRefused}, {1, errRefused}}, errRefused, again + 2, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int32
				var closed atomic.Int32
				began := time.Now()
				conn, err := first(t.Context(), func(ctx context.Context) (net.Conn, error) {
					a := c.answers[calls.Add(1)-1]
					time.Sleep(a.after) // also a call that does not see the end of ctx
					if a.err != nil {
						return nil, a.err
					}
					near, far := net.Pipe()
					_ = far.Close()
					return &counted{near, &closed}, nil
				})
				if took := time.Since(began); !errors.Is(err, c.want) || (err == nil) != (conn != nil) || took != c.took || int(calls.Load()) != c.calls {
					t.Errorf("%v %v after %s and %d calls, want %v after %s and %d", conn, err, took, calls.Load(), c.want, c.took, c.calls)
				}
				time.Sleep(2 * time.Hour)
				if int(closed.Load()) != c.closed {
					t.Errorf("%d of %d connections are closed", closed.Load(), calls.Load())
				}
			})
		})
	}
}

// counted counts calls of Close.
type counted struct {
	net.Conn

	closed *atomic.Int32
}

func (c *counted) Close() error {
	c.closed.Add(1)
	return c.Conn.Close()
}

// TestFirstEnds: the end of the context ends all attempts.
func TestFirstEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errOver := errors.New("over")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errOver)
		defer cancel()
		_, err := first(ctx, func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if !errors.Is(err, errOver) {
			t.Errorf("%v", err)
		}
	})
}

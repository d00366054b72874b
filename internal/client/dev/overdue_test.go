package dev

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// A deploy that takes long is reported once, and ends when the disk is full.
func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told, free atomic.Int64
		free.Store(minRoom)
		ctx, stop := deadline(t.Context(), func() { told.Add(1) }, free.Load)
		defer stop()
		time.Sleep(overdue - time.Millisecond)
		if synctest.Wait(); told.Load() != 0 {
			t.Error("reported a deploy that does not take long")
		}
		time.Sleep(time.Minute)
		if synctest.Wait(); told.Load() != 1 || ctx.Err() != nil {
			t.Errorf("told %d times, %v", told.Load(), ctx.Err())
		}
		free.Store(minRoom - 1)
		time.Sleep(roomPeriod)
		if synctest.Wait(); svc.CodeOf(context.Cause(ctx)) != svc.CodeDiskFull {
			t.Errorf("ended with %v", context.Cause(ctx))
		}
	})
}

// The end of a deploy is the end of its deadline.
func TestDeadlineStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := deadline(t.Context(), func() { t.Error("told") }, func() int64 { return 0 })
		stop()
		<-ctx.Done()
		time.Sleep(time.Minute)
	})
}

package backoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
)

func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errOver := errors.New("over")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errOver)
		defer cancel()
		began := time.Now()
		for _, step := range []struct {
			d, at time.Duration
			want  error
		}{
			{time.Second, time.Second, nil},
			{0, time.Second, nil},
			{-1, time.Second, nil},
			{time.Hour, time.Minute, errOver},
			{time.Second, time.Minute, errOver},
			{0, time.Minute, errOver},
		} {
			if err := backoff.Sleep(ctx, step.d); !errors.Is(err, step.want) || time.Since(began) != step.at {
				t.Errorf("Sleep(%v) = %v at %v, want %v at %v", step.d, err, time.Since(began), step.want, step.at)
			}
		}
	})
}

package health

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// limit bounds one execution of a check.
const limit = 3 * time.Second

// Check is one health check.
type Check struct {
	Name   string // for the operator, for example a setting
	Run    func(context.Context) error
	flight singleflight.Group
}

// Checks are the health checks of the data of versions.
type Checks []*Check

// Ping runs all checks concurrently and joins their errors. Each error begins with the
// name of its check. When ctx ends, Ping returns an error for each unfinished check.
func (c Checks) Ping(ctx context.Context) error {
	errs := make([]error, len(c))
	var running sync.WaitGroup
	for i, check := range c {
		running.Go(func() { errs[i] = check.do(ctx) })
	}
	running.Wait()
	return errors.Join(errs...)
}

// do returns the result of the check, or an error if ctx ends first.
func (c *Check) do(ctx context.Context) error {
	result := c.flight.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		return nil, c.Run(ctx)
	})
	select {
	case r := <-result:
		if r.Err != nil {
			return fmt.Errorf("%s: %w", c.Name, r.Err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: no answer: %w", c.Name, context.Cause(ctx))
	}
}

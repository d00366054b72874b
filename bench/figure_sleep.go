package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/ours"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	rouses     = 15
	rouseGoal  = 60.0 // ms
	sleepLimit = time.Minute
)

// rouse: the first answer of a version that slept, from the request on.
func rouse(ctx context.Context, b *bench) ([]row, error) {
	daemon, err := b.program.StartWith(ctx, "SVC_SLEEP_IDLE=1s", "SVC_SLEEP_PRODUCTION=1")
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	target, err := daemon.Deploy(ctx, "hello")
	if err != nil {
		return nil, err
	}
	var all []float64
	for i := range warmDeploys + rouses {
		if err := asleep(ctx, daemon); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := load.Once(ctx, target, "/"); err != nil {
			return nil, err
		}
		if i >= warmDeploys {
			all = append(all, milliseconds(time.Since(began)))
		}
	}
	r := row{what: fmt.Sprintf("first answer of a version that slept, hello world (median of %d, 90 %%)", rouses)}
	r.ours = fmt.Sprintf("%.0f ms, %.0f ms", median(all), quantile(all, 0.9))
	return []row{r.atMost(median(all), rouseGoal, " ms")}, nil
}

// asleep waits until the only version sleeps, and a moment longer for the next spare.
func asleep(ctx context.Context, d *ours.Daemon) error {
	limited, cancel := context.WithTimeoutCause(ctx, sleepLimit, errors.New("the version does not fall asleep"))
	defer cancel()
	for {
		routes, err := d.Client.Routes(limited)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(routes.Items, func(r api.Route) bool { return r.State == string(api.RuntimeStateAsleep) }) {
			return wait(ctx, time.Second)
		}
		if err := wait(limited, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

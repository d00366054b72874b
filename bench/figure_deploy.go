package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/ours"
)

const (
	deploys     = 25
	deployGoal  = 40.0 // ms
	warmDeploys = 3
)

// deploy: from POST to ready, with the bundle uploaded before and the client library's
// polling included. A deploy takes the spare pair, and the next pair starts behind it: so
// deploys are measured some time apart, as people deploy, and one right behind the other.
func deploy(ctx context.Context, b *bench) ([]row, error) {
	daemon, err := b.program.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	uploads, err := daemon.Uploads(ctx, "hello")
	if err != nil {
		return nil, err
	}
	apart, err := deployAll(ctx, uploads, "a", time.Second)
	if err != nil {
		return nil, err
	}
	behind, err := deployAll(ctx, uploads, "b", 0)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("POST to `ready`, hello world (median of %d, 90 %%)", deploys)
	r := row{what: what, ours: spread(apart)}
	return []row{r.atMost(median(apart), deployGoal, " ms"), {what: what + ", one right behind the other", ours: spread(behind)}}, nil
}

// deployAll measures deploys in milliseconds, with a pause before each.
func deployAll(ctx context.Context, uploads *ours.Uploads, prefix string, pause time.Duration) (all []float64, err error) {
	for i := range warmDeploys + deploys {
		if err := wait(ctx, pause); err != nil {
			return nil, err
		}
		took, err := uploads.Deploy(ctx, fmt.Sprintf("%s%d", prefix, i))
		if err != nil {
			return nil, err
		}
		if i >= warmDeploys {
			all = append(all, milliseconds(took))
		}
	}
	return all, nil
}

func spread(all []float64) string {
	return fmt.Sprintf("%.0f ms, %.0f ms", median(all), quantile(all, 0.9))
}

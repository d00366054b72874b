package main

import (
	"context"
	"fmt"
)

const (
	deploys     = 25
	deployGoal  = 40.0 // ms
	warmDeploys = 3
)

// deploy: from POST to ready, with the bundle uploaded before and the client
// library's polling included.
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
	var all []float64
	for i := range warmDeploys + deploys {
		took, err := uploads.Deploy(ctx, fmt.Sprintf("v%d", i))
		if err != nil {
			return nil, err
		}
		if i >= warmDeploys {
			all = append(all, milliseconds(took))
		}
	}
	r := row{what: fmt.Sprintf("POST to `ready`, hello world (median of %d, 90 %%)", deploys)}
	r.ours = fmt.Sprintf("%.0f ms, %.0f ms", median(all), quantile(all, 0.9))
	return []row{r.atMost(median(all), deployGoal, " ms")}, nil
}

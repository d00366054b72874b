package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/proc"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	pagedOutGoal = 5.0 // MiB
	pagedOutTime = 20 * time.Second
)

// pagedOut: what an idle version holds whose memory was moved to swap, and its first answer
// afterwards. It needs swap; with zram the compressed part counts too.
func pagedOut(ctx context.Context, b *bench) ([]row, error) {
	const what = "unshared memory of an idle version, paged out"
	if swap, err := proc.HasSwap(); err != nil || !swap {
		return []row{{what: what, ours: "no swap"}}, err
	}
	daemon, routes, err := b.idleVersions(ctx, "SVC_PAGEOUT_IDLE=5s")
	if err != nil {
		return nil, err
	}
	defer daemon.Stop()
	if err := wait(ctx, pagedOutTime); err != nil {
		return nil, err
	}
	packed, err := proc.Compression()
	if err != nil {
		return nil, err
	}
	var resident, swapped, first []float64
	for _, r := range routes {
		if r.Role != api.RouteRolePreview {
			continue
		}
		in, out, err := heldBy(r.PID)
		if err != nil {
			return nil, err
		}
		target, err := daemon.Host(r.Host)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		if err := load.Once(ctx, target, "/"); err != nil {
			return nil, err
		}
		resident, swapped, first = append(resident, in), append(swapped, out*packed), append(first, milliseconds(time.Since(began)))
	}
	held := median(resident) + median(swapped)
	return []row{row{
		what: fmt.Sprintf("%s (median of %d)", what, len(resident)),
		ours: fmt.Sprintf("%.1f MiB (in memory %.1f, compressed %.1f)", held, median(resident), median(swapped)),
	}.atMost(held, pagedOutGoal, " MiB"), {
		what: "first answer of a version that was paged out", ours: fmt.Sprintf("%.1f ms", median(first)),
	}}, nil
}

// heldBy gives the unshared memory of a host and its workerd, and what of them is swapped, in MiB.
func heldBy(host int) (resident, swapped float64, err error) {
	pids, err := withChildren(host)
	if err != nil {
		return 0, 0, err
	}
	if resident, err = unshared(pids...); err != nil {
		return 0, 0, err
	}
	for _, pid := range pids {
		n, err := proc.Swapped(pid)
		if err != nil {
			return 0, 0, err
		}
		swapped += float64(n) / (1 << 20)
	}
	return resident, swapped, nil
}

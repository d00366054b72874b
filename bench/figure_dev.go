package main

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/bench/internal/proc"
)

const (
	devStarts = 5
	devSaves  = 15
	devMany   = 200 // saves before the memory is read

	devColdWrangler  = 0.3
	devColdMiniflare = 0.9
	devSaveGoal      = 80.0 // ms
	devSaveMiniflare = 0.6
	devMemoryGoal    = 0.33

	devQuiet = 300 * time.Millisecond // before each save
)

// dev: the loop of a developer, from the start to the first answer and from a save to its
// answer, and its memory.
func dev(ctx context.Context, b *bench) (rows []row, err error) {
	for _, e := range edits() {
		cold, err := alternate(devStarts, b.starts(ctx, e)...)
		if err != nil {
			return nil, err
		}
		for i, goal := range []float64{devColdMiniflare, devColdWrangler} {
			rows = append(rows, devRow(e.fixture+": cold start to first 200", "ms", devLoops()[i+1], [2][]float64{cold[0], cold[i+1]}, goal))
		}
		more, err := b.devSaves(ctx, e)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// devLoops are the names of what is compared.
func devLoops() []string { return []string{svcctl, miniflare, wrangler} }

func devRow(what, unit, peer string, figures [2][]float64, goal float64) row {
	ours, theirs := figures[0], figures[1]
	times := ratio(ours, theirs)
	r := row{
		what: fmt.Sprintf("%s (median of %d)", what, len(ours)), ours: fmt.Sprintf("%.0f %s", median(ours), unit),
		beside: fmt.Sprintf("%s %.0f %s", peer, median(theirs), unit), ratio: fmt.Sprintf("%.2fx", times),
	}
	if goal > 0 {
		r = r.atMost(times, goal, "x")
	}
	return r
}

// starts are the cold starts of all loops.
func (b *bench) starts(ctx context.Context, e edited) (all []subject) {
	for _, name := range devLoops() {
		all = append(all, func() (float64, error) {
			dir, err := b.copy(ctx, name, e)
			if err != nil {
				return 0, err
			}
			began := time.Now()
			l, err := b.loop(ctx, name, dir, e)
			if err != nil {
				return 0, err
			}
			took := milliseconds(time.Since(began))
			l.stop()
			return took, nil
		})
	}
	return all
}

// devSaves measures saves of all loops in turn, and then their memory.
func (b *bench) devSaves(ctx context.Context, e edited) ([]row, error) {
	var loops []*loop
	var all []subject
	for _, name := range devLoops() {
		dir, err := b.copy(ctx, name, e)
		if err != nil {
			return nil, err
		}
		l, err := b.loop(ctx, name, dir, e)
		if err != nil {
			return nil, err
		}
		defer l.stop()
		loops = append(loops, l)
		all = append(all, func() (float64, error) {
			if err := wait(ctx, devQuiet); err != nil {
				return 0, err
			}
			took, err := l.save(ctx)
			return milliseconds(took), err
		})
	}
	figures, err := alternate(devSaves, all...)
	if err != nil {
		return nil, err
	}
	what := e.fixture + ": save to served"
	rows := []row{
		row{what: what + ", p50", ours: fmt.Sprintf("%.0f ms", median(figures[0]))}.atMost(median(figures[0]), devSaveGoal, " ms"),
		devRow(what+", beside setOptions", "ms", miniflare, [2][]float64{figures[0], figures[1]}, devSaveMiniflare),
		devRow(what, "ms", wrangler, [2][]float64{figures[0], figures[2]}, 0),
	}
	memory, err := devMemory(ctx, e, loops[0], loops[2])
	return append(rows, memory), err
}

// devMemory is what the loops have after many saves.
func devMemory(ctx context.Context, e edited, loops ...*loop) (row, error) {
	var used [2]float64
	for i, l := range loops {
		for l.saves < devMany {
			if _, err := l.save(ctx); err != nil {
				return row{}, err
			}
		}
		if err := wait(ctx, idleTime); err != nil {
			return row{}, err
		}
		n, err := proc.Proportional(l.pid)
		if err != nil {
			return row{}, err
		}
		used[i] = float64(n) / (1 << 20)
	}
	return devRow(fmt.Sprintf("%s: memory of the loop after %d saves", e.fixture, devMany), "MiB", wrangler, [2][]float64{used[:1], used[1:]}, devMemoryGoal), nil
}

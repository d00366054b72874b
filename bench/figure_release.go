package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/ours"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	releases        = 50   // of each size
	releaseRate     = 1000 // requests per second that write
	releaseConns    = 32
	releasePause    = time.Second // for a spare pair
	heldGoal        = 100.0       // ms, the median
	longestHeldGoal = 300.0       // ms
)

// release: the hold of a release beside that of a promote, with data of 1 MB and of the largest size,
// while a client writes. A request that fails ends the figure; every answered write must be there.
func release(ctx context.Context, b *bench) (rows []row, err error) {
	for _, mb := range []int{1, b.large} {
		more, err := releasesOf(ctx, b, mb)
		if err != nil {
			return nil, fmt.Errorf("%d MB: %w", mb, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// released is a project whose production is released and promoted.
type released struct {
	daemon  *ours.Daemon
	uploads *ours.Uploads
	prod    load.Target
	made    int
	steps   map[string][]float64 // ms, of the releases without load
}

func releasesOf(ctx context.Context, b *bench, mb int) ([]row, error) {
	r := &released{steps: map[string][]float64{}}
	var err error
	if r.daemon, err = b.program.Start(ctx); err != nil {
		return nil, err
	}
	defer r.daemon.Stop()
	if err := r.fill(ctx, mb); err != nil {
		return nil, err
	}
	promotes, err := r.each(ctx, 10, r.promote)
	if err != nil {
		return nil, err
	}
	// Afterwards the version that was made copies its data to the disk, at some 100 MB a second.
	idle, err := r.each(ctx, 10, func(ctx context.Context) (api.Promotion, error) {
		if err := wait(ctx, time.Duration(mb)*10*time.Millisecond); err != nil {
			return api.Promotion{}, err
		}
		return r.release(ctx)
	})
	if err != nil {
		return nil, err
	}
	steps := r.longest()
	busy, sent, err := r.underLoad(ctx)
	if err != nil {
		return nil, err
	}
	size := fmt.Sprintf("%d MB", mb)
	line := func(what string, held []float64) row {
		return row{what: size + ": " + what, ours: fmt.Sprintf("%.0f ms (%.0f to %.0f)", middle(held), held[0], held[len(held)-1])}
	}
	return []row{
		line("hold of a promote", promotes),
		line("hold of a release, no load", idle).atMost(middle(idle), heldGoal, " ms"),
		{what: size + ": its steps, medians", ours: steps},
		line(fmt.Sprintf("hold of %d releases at %d writes/s, longest", releases, releaseRate), busy).atMost(busy[len(busy)-1], longestHeldGoal, " ms"),
		{what: size + ": writes that were answered and are lost, requests that failed", ours: fmt.Sprintf("0 and 0 of %d", sent)},
	}, nil
}

// longest names the steps that take most of a hold.
func (r *released) longest() string {
	var text []string
	for _, name := range []string{"drain", "pause", "seal", "fork", "prepare", "check", "commit"} {
		took := r.steps[name]
		slices.Sort(took)
		text = append(text, fmt.Sprintf("%s %.0f", name, middle(took)))
	}
	return strings.Join(text, ", ") + " ms"
}

func middle(sorted []float64) float64 { return sorted[len(sorted)/2] }

// fill deploys the first version and a second one to promote, and fills the first.
func (r *released) fill(ctx context.Context, mb int) (err error) {
	if r.uploads, err = r.daemon.Uploads(ctx, "branch"); err != nil {
		return err
	}
	if _, err = r.uploads.Deploy(ctx, "first"); err != nil {
		return err
	}
	if r.prod, err = r.daemon.Host(r.uploads.Project() + ".ingress.local"); err != nil {
		return err
	}
	err = load.Once(ctx, r.prod, "/make")
	for from := 0; from < mb*rowsPerMB && err == nil; from += fillRows {
		err = load.Once(ctx, r.prod, fmt.Sprintf("/fill?from=%d&to=%d", from+1, min(from+fillRows, mb*rowsPerMB)))
	}
	for _, id := range []string{"second", "candidate"} {
		if err == nil {
			err = r.uploads.Upload(ctx, id)
		}
		if err == nil {
			_, err = r.uploads.Create(ctx, id, "first")
		}
	}
	return err
}

// each measures n holds, and sorts them.
func (r *released) each(ctx context.Context, n int, change func(context.Context) (api.Promotion, error)) (held []float64, err error) {
	for range n {
		p, err := change(ctx)
		if err == nil && (p.HeldMs == nil || p.Status != api.PromotionStatusDone) {
			err = fmt.Errorf("%s ended as %s: %s", p.OperationID, p.Status, p.Error)
		}
		if err != nil {
			return nil, err
		}
		held = append(held, *p.HeldMs)
		if err := wait(ctx, releasePause); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(held, cmp.Compare[float64])
	return held, nil
}

// promote changes between two versions; an even number of calls ends with the first.
func (r *released) promote(ctx context.Context) (p api.Promotion, err error) {
	r.made++
	to := []string{"first", "second"}[r.made%2]
	a, err := r.daemon.Client.Promote(ctx, r.uploads.Project(), to, api.PromoteVersion{LeaveWrites: true})
	if err != nil {
		return p, err
	}
	return r.daemon.Client.WaitPromotion(ctx, r.uploads.Project(), a.OperationID)
}

func (r *released) release(ctx context.Context) (p api.Promotion, err error) {
	a, err := r.daemon.Client.Release(ctx, r.uploads.Project(), "candidate", api.ReleaseVersion{})
	if err != nil {
		return p, err
	}
	p, err = r.daemon.Client.WaitPromotion(ctx, r.uploads.Project(), a.OperationID)
	for _, s := range p.HoldSteps {
		r.steps[s.Step] = append(r.steps[s.Step], s.Ms)
	}
	return p, err
}

// underLoad releases while a client writes, and compares what is there with what was answered.
func (r *released) underLoad(ctx context.Context) (held []float64, sent int, err error) {
	type loaded struct {
		load.Result
		err error
	}
	ended := make(chan loaded, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		result, err := load.Run(ctx, load.Window{
			Target: r.prod, Path: "/add", Conns: releaseConns, Rate: releaseRate, For: releases * (releasePause + 300*time.Millisecond),
		})
		ended <- loaded{result, err}
	}()
	if held, err = r.each(ctx, releases, r.release); err != nil {
		return nil, 0, err
	}
	result := <-ended
	if result.err != nil {
		return nil, 0, result.err
	}
	conn, err := load.Dial(ctx, r.prod, time.Minute)
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close()
	_, body, err := conn.Do(r.prod.Get("/added"))
	if want := fmt.Sprintf(`{"ok":%d}`, result.Requests); err == nil && string(body) != want {
		err = fmt.Errorf("%d writes were answered, production has %s", result.Requests, body)
	}
	return held, result.Requests, err
}

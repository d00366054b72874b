package load

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Window is one measurement: the same request over and over on each of some
// connections, for a time.
type Window struct {
	Target Target
	Path   string
	Body   string // not empty: a POST with this body
	Expect string // what every body begins with
	Conns  int
	For    time.Duration
	Rate   int  // requests per second of all connections together; 0: as many as are answered
	Most   int  // requests of all connections together, which end the window; 0 for no limit
	Fresh  bool // a connection for each request
	Echo   bool // messages on a websocket in place of requests
}

// Result is what a window measured.
type Result struct {
	Requests  int
	PerSecond float64
	Median    time.Duration // of one request; with a Rate from the time when it was due
	P99       time.Duration // likewise
}

// slack is how much longer than its time a window may take.
const slack = 15 * time.Second

// Run measures. It fails when one answer is not the expected one.
func Run(ctx context.Context, w Window) (Result, error) {
	times := make([][]time.Duration, w.Conns)
	var sent atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for i := range times {
		group.Go(func() (err error) {
			times[i], err = w.one(ctx, w.paceOf(i, began), began.Add(w.For), &sent)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Result{}, fmt.Errorf("%s%s: %w", w.Target.Host, w.Path, err)
	}
	took := time.Since(began)
	all := slices.Concat(times...)
	slices.Sort(all)
	return Result{Requests: len(all), PerSecond: float64(len(all)) / took.Seconds(), Median: all[len(all)/2], P99: all[len(all)*99/100]}, nil
}

// one is the loop of one connection, to at least one answer.
func (w Window) one(ctx context.Context, p pace, end time.Time, sent *atomic.Int64) ([]time.Duration, error) {
	if w.Echo {
		return w.echoes(ctx, end)
	}
	conn, err := Dial(ctx, w.Target, w.For+slack)
	if err != nil {
		return nil, err
	}
	defer func() { conn.Close() }()
	request, expect := w.Target.Get(w.Path), []byte(w.Expect)
	if w.Body != "" {
		request = w.Target.Post(w.Path, w.Body)
	}
	var times []time.Duration
	for {
		began := p.next()
		if w.Fresh && len(times) > 0 {
			conn.Close()
			if conn, err = Dial(ctx, w.Target, w.For+slack); err != nil {
				return nil, err
			}
		}
		status, body, err := conn.Do(request)
		now := time.Now()
		switch {
		case err != nil:
			return nil, err
		case status != 200 || !bytes.HasPrefix(body, expect):
			return nil, fmt.Errorf("answered %d %q", status, body)
		}
		times = append(times, now.Sub(began))
		if now.After(end) || ctx.Err() != nil || w.Most > 0 && sent.Add(1) > int64(w.Most-w.Conns) {
			return times, ctx.Err()
		}
	}
}

// Once makes one request on a connection of its own and wants a 200.
func Once(ctx context.Context, t Target, path string) error {
	_, err := Run(ctx, Window{Target: t, Path: path, Conns: 1})
	return err
}

// Until200 tries every millisecond until the target answers 200.
func Until200(ctx context.Context, t Target, path string) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		err := Once(ctx, t, path)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no 200: %w (%w)", err, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

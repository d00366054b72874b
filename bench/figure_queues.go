package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/bench/internal/load"
)

const (
	queueBatch    = 100    // messages of one send
	queueSends    = 20     // of each connection: miniflare refuses a backlog of 10,000 messages
	queueConns    = 4      // that send
	queueRate     = 12_700 // messages a second
	queueTime     = 10     // ms from send to the consumer and back
	queueBacklog  = 100_000
	queuePatience = 2 * time.Minute
)

// queues: messages from send to their consumer in the same worker.
func queues(ctx context.Context, b *bench) ([]row, error) {
	return b.compareEvents(ctx, "queue", []event{
		{
			what: "messages of 200 bytes, from send to the consumer", unit: "%.0f/s", rate: true, measure: queueMany,
			goal: func(r row, f float64) row { return r.atLeast(f, queueRate, "/s") },
		},
		{
			what: "one message, from send to the consumer", unit: "%.1f ms", measure: queueOne,
			goal: func(r row, f float64) row { return r.atMost(f, queueTime, " ms") },
		},
	}, backlog)
}

// queueMany is messages a second, from the first send until the consumer has all.
func queueMany(ctx context.Context, t load.Target) (float64, error) {
	before, err := count(ctx, t, "received")
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := send(ctx, t, "/send", queueSends); err != nil {
		return 0, err
	}
	const n = queueConns * queueSends * queueBatch
	err = received(ctx, t, before+n)
	return n / time.Since(began).Seconds(), err
}

// queueOne is the median time of one message, in ms.
func queueOne(ctx context.Context, t load.Target) (float64, error) {
	r, err := load.Run(ctx, load.Window{Target: t, Path: "/trip", Expect: `{"ok":1}`, Conns: 1, For: time.Second})
	return float64(r.Median) / float64(time.Millisecond), err
}

// backlog sends messages that wait, and then a last one, which makes all of them due.
func backlog(ctx context.Context, s system) ([]row, error) {
	before, err := count(ctx, s.target, "received")
	if err != nil {
		return nil, err
	}
	if err := load.Once(ctx, s.target, "/hold"); err != nil {
		return nil, err
	}
	began := time.Now()
	if err := send(ctx, s.target, "/send", queueBacklog/queueConns/queueBatch); err != nil {
		return nil, err
	}
	sent := queueBacklog / time.Since(began).Seconds()
	waiting, err := count(ctx, s.target, "waiting")
	if err != nil {
		return nil, err
	}
	if err := load.Once(ctx, s.target, "/release"); err != nil {
		return nil, err
	}
	began = time.Now()
	err = received(ctx, s.target, before+queueBacklog)
	return []row{
		row{what: "messages that wait at the same time, none refused", ours: fmt.Sprintf("%d, sent at %.0f/s", waiting, sent)}.atLeast(float64(waiting), queueBacklog*.95, ""),
		{what: "receiving them", ours: fmt.Sprintf("%.0f/s", queueBacklog/time.Since(began).Seconds())},
	}, err
}

// send sends batches on each of some connections.
func send(ctx context.Context, t load.Target, path string, sends int) error {
	group, ctx := errgroup.WithContext(ctx)
	for range queueConns {
		group.Go(func() error {
			conn, err := load.Dial(ctx, t, queuePatience)
			if err != nil {
				return err
			}
			defer conn.Close()
			for range sends {
				status, body, err := conn.Do(t.Get(fmt.Sprintf("%s?n=%d", path, queueBatch)))
				if err == nil && status != http.StatusOK {
					err = fmt.Errorf("a send answers %d %s", status, body)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// received waits until the consumer has received n messages in all.
func received(ctx context.Context, t load.Target, n int) error {
	for end := time.Now().Add(queuePatience); ; {
		got, err := count(ctx, t, "received")
		switch {
		case err != nil || got >= n:
			return err
		case time.Now().After(end):
			return fmt.Errorf("the consumer received %d of %d messages", got, n)
		}
		if err := wait(ctx, 3*time.Millisecond); err != nil {
			return err
		}
	}
}

// count is a number that the fixture knows.
func count(ctx context.Context, t load.Target, what string) (int, error) {
	conn, err := load.Dial(ctx, t, queuePatience)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	status, body, err := conn.Do(t.Get("/count"))
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("/count answers %d %s", status, body)
	}
	var answer map[string]int
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	return answer[what], err
}

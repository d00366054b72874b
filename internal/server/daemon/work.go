package daemon

import (
	"context"
	"errors"
	"time"
)

// workStop is the time for running deploys, wakes and other verbs to end before a stop
// cancels them.
const workStop = 2 * time.Second

// startRoutes publishes every host name to the gateway and resumes interrupted
// promotions before the ports serve, so that no host name answers 404 or from a wrong
// version.
func (d *Daemon) startRoutes(ctx context.Context, _ Config) error {
	if err := d.deploy.Get().Announce(ctx); err != nil {
		return err
	}
	return d.promote.ResumeAll(ctx)
}

// startWork starts the background work: janitors, the runtimes of ready versions, the
// deploy queue and interrupted verbs [D25].
func (d *Daemon) startWork(ctx context.Context, _ Config) error {
	d.janitor.Start(ctx)
	d.stops.Push("janitors", d.janitor.Stop) // after the services that they call
	d.hooks.Start(ctx)
	d.stops.Push("webhooks", d.hooks.Stop)
	restored := make(chan struct{})
	go d.beginFeed(restored)
	d.stops.Go(ctx, "restore", func(ctx context.Context) {
		defer close(restored)
		if err := d.deploy.Get().Restore(ctx); err != nil && ctx.Err() == nil {
			d.logger.ErrorContext(ctx, "restoring ready versions failed", "error", err)
		}
	})
	if d.domains != nil {
		if err := d.domains.Publish(ctx); err != nil {
			return err
		}
	}
	if err := d.startSleep(ctx); err != nil {
		return err
	}
	if err := d.watch.Get().Start(ctx); err != nil {
		return err
	}
	d.startLifecycle(ctx)
	d.stops.Push("previews", stopSoon(d.previews.Stop))
	if err := d.jobs.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	d.stops.Push("deploys", stopSoon(d.jobs.Stop))
	return nil
}

// startLifecycle resumes the verbs of the previous process.
func (d *Daemon) startLifecycle(ctx context.Context) {
	d.stops.Go(ctx, "resumed verbs", func(ctx context.Context) {
		if err := d.lifecycle.Get().Resume(ctx); err != nil && ctx.Err() == nil {
			d.logger.ErrorContext(ctx, "cleanup of archived or destroyed versions incomplete", "error", err)
		}
	})
	d.stops.Push("verbs", stopSoon(d.lifecycle.Get().Stop))
}

// stopSoon stops work that may take long, such as the start of a worker: after workStop
// it is canceled. The next process resumes it.
func stopSoon(stop func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, workStop)
		defer cancel()
		if err := stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil
	}
}

package daemon

import (
	"context"

	"github.com/svcctl/svcctl/internal/gc"
)

// newGC makes the garbage collection of the object store. It does nothing yet.
func (d *Daemon) newGC() (err error) {
	host := d.storage.places.Owner.Host
	if d.objects.embedded != nil {
		host = "" // nobody else reaches the store, and a new data directory has a new name
	}
	d.gc, err = gc.New(gc.Deps{
		Host:     host,
		Branches: d.storage.branches, Records: d.storage.branches, Data: d.storage.data, Registry: d.registry,
		Logger: d.logger, Observer: d.metrics, Every: d.cfg.GCEvery,
	})
	return err
}

// startGC lets it sweep and audit until ctx ends. What is cut off then, the next
// sweep finds again.
func (d *Daemon) startGC(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.gc.Run(ctx)
	}()
	d.onStop("garbage collection", func(context.Context) error { cancel(); <-done; return nil })
}

package daemon

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/api/feed"
	"github.com/svcctl/svcctl/internal/svc"
)

// startFeed starts the events before the services that publish them.
func (d *Daemon) startFeed(ctx context.Context) error {
	d.feed = feed.New(d.registry, d.logger)
	if err := d.feed.Start(ctx); err != nil {
		return err
	}
	d.stops.Push("events", d.feed.Stop)
	d.feed.Publish(svc.FeedEvent{Type: svc.FeedServerStarted})
	return nil
}

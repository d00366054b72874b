package daemon

import (
	"context"

	"github.com/svcctl/svcctl/internal/edge/accesslog"
	"github.com/svcctl/svcctl/internal/edge/gateway"
)

// startAccessLog opens the access log if the settings name one. It returns what the gateway
// calls for each request; nil for no log.
func (d *Daemon) startAccessLog(ctx context.Context) (func(gateway.Access), error) {
	if d.cfg.AccessLog == "" {
		return nil, nil // no log is no error
	}
	log, err := accesslog.Open(ctx, d.cfg.AccessLog, accesslog.Format(d.cfg.AccessLogFormat), d.logger)
	if err != nil {
		return nil, err
	}
	d.accessLog = log
	d.stops.Push("access log", func(context.Context) error { return log.Close() })
	return func(a gateway.Access) {
		log.Record(&accesslog.Entry{
			Time: a.Start, Client: string(a.Client), Host: string(a.Host), Method: string(a.Method), Target: string(a.Target),
			Minor: a.Minor, Status: a.Status, Bytes: a.Bytes, Duration: a.Duration, Referer: string(a.Referer), Agent: string(a.Agent),
			Ref: a.Ref, Error: a.Error, ID: string(a.ID),
		})
	}, nil
}

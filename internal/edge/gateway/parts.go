package gateway

import (
	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
)

// router is the part of the configuration that the router needs.
func (c *Config) router() route.Config {
	return route.Config{
		Ingress: c.Ingress, Logger: c.Logger, VerifySecret: c.VerifySecret, PublicHost: c.PublicHost, Compress: c.Compress,
		Asked: c.Asked, Rouse: c.Rouse, Machine: c.Machine, Inherited: c.Inherited, Relay: c.Relay,
		HoldTimeout: c.HoldTimeout, StartWait: c.StartWait, MaxHeld: c.MaxHeld, MaxConnsPerVersion: c.MaxConnsPerVersion,
	}
}

// service is the part that the requests of all engines need.
func (c *Config) service() exchange.Config {
	return exchange.Config{
		Logger: c.Logger, Observer: c.Observer, Access: c.Access, Sampled: c.Sampled, Locate: c.Locate,
		Exception: c.Exception, Compress: c.Compress,
	}
}

// conn is the part that connections need.
func (c *Config) conn() conn.Config {
	return conn.Config{
		Logger: c.Logger, IdleTimeout: c.IdleTimeout, HeaderTimeout: c.HeaderTimeout, ProbeTime: c.ProbeTime,
		ClientTimeout: c.ClientTimeout, LingerTime: c.LingerTime, MaxHeader: c.MaxHeader,
		MaxConns: c.MaxConns, MaxConnsPerClient: c.MaxConnsPerClient,
	}
}

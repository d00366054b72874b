package dev

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/svcctl/svcctl/internal/client/front"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// remotePace is the time between two looks at a deploy of a shared server.
const remotePace = 50 * time.Millisecond

// Remote returns a shared server: versions are reached by their public host names, and
// production is left alone. user is in the names of the versions.
func Remote(c *client.Client, user string) (*Server, error) {
	server, err := url.Parse(c.Server())
	if err != nil {
		return nil, fmt.Errorf("the address of the server: %w", err)
	}
	ip := net.ParseIP(server.Hostname())
	local := front.IsLocal(server.Hostname()) || ip != nil && ip.IsLoopback()
	return &Server{
		Client: c, User: user, Pace: remotePace, Stop: func(context.Context) error { return nil },
		Target: func(v api.Version) front.Target { return remoteTarget(v, local) },
	}, nil
}

// remoteTarget is the public address of a version. Host names of a server of this
// machine may not be in DNS: its gateway is on this machine, too.
func remoteTarget(v api.Version, local bool) front.Target {
	u, err := url.Parse(v.PreviewURL)
	if err != nil || u.Host == "" {
		return front.Target{Version: v.ID, URL: &url.URL{Scheme: "http", Host: "localhost"}} // no server makes such a URL
	}
	t := front.Target{Version: v.ID, Host: u.Host, URL: &url.URL{Scheme: u.Scheme, Host: u.Host}}
	if local && u.Scheme == "http" {
		t.URL.Host = net.JoinHostPort("127.0.0.1", port(u))
	}
	return t
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return "80"
}

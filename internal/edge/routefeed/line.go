package routefeed

import (
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// The kinds of lines.
const (
	kindAll        = "all"        // all routes follow, up to kindReady
	kindReady      = "ready"      // the routes are those of the line's generation
	kindHeartbeat  = "heartbeat"  // nothing has changed
	kindVersion    = "version"    // the state of a version
	kindRemove     = "remove"     // a version has no routes any more
	kindProduction = "production" // the state of a production host name
	kindPreview    = "preview"    // the state of a preview name
	kindWebsockets = "websockets" // websockets of a version are to end
	kindDomain     = "domain"     // a host name of another domain is a further name of a project
	kindNoDomain   = "no_domain"  // it is not any more
)

// Line is one line of the stream.
type Line struct {
	Kind       string `json:"kind"`
	Generation uint64 `json:"generation,omitempty"`

	Hosts *svc.IngressConfig `json:"hosts,omitempty"` // of kindAll: the form of host names

	Project string `json:"project,omitempty"`
	Version string `json:"version,omitempty"` // also of a host name that changes its version
	Preview string `json:"preview,omitempty"` // the preview name of kindPreview
	Held    bool   `json:"held,omitempty"`    // requests of the host name wait

	State *State `json:"state,omitempty"` // of kindVersion

	Domain *svc.DomainRoute `json:"domain,omitempty"` // of kindDomain; of kindNoDomain with its host alone

	Role  svc.Role      `json:"role,omitempty"`  // of kindWebsockets; "" for all
	After time.Duration `json:"after,omitempty"` // of kindWebsockets, in nanoseconds
}

func (l *Line) ref() svc.Ref { return svc.Ref{Project: l.Project, Version: l.Version} }

// State is the part of a version's upstream that other machines can use.
type State struct {
	Status   svc.Status `json:"status"`
	Starting bool       `json:"starting,omitempty"`
	Planned  bool       `json:"planned,omitempty"`
	Asleep   bool       `json:"asleep,omitempty"`
	RetryAt  time.Time  `json:"retry_at,omitzero"`
	Key      string     `json:"key,omitempty"` // of the runtime's start; "" without one
	Through  bool       `json:"through,omitempty"`
	// Direct is host:port of the machine where gateways reach the runtime, and Pin that of its
	// certificate; "" if they reach it only through the server.
	Direct string `json:"direct,omitempty"`
	Pin    string `json:"pin,omitempty"`
}

// relaySocket stands for the runtime's socket in a gateway on another machine.
const relaySocket = "relay"

// upstream is the state in a gateway on another machine.
func (s *State) upstream() svc.Upstream {
	u := svc.Upstream{
		Status: s.Status, Starting: s.Starting, Planned: s.Planned, Asleep: s.Asleep, RetryAt: s.RetryAt, Through: s.Through,
	}
	if s.Key != "" {
		u.Endpoint = svc.Endpoint{Socket: relaySocket, PortKey: s.Key, Direct: s.Direct, DirectPin: s.Pin}
	}
	return u
}

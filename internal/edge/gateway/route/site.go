package route

import (
	"sync"
	"sync/atomic"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/site"
	"github.com/svcctl/svcctl/internal/svc"
)

// lazySite is the assets of a version. They are read from its bundle when the first request
// comes.
type lazySite struct {
	dir  string
	read atomic.Bool
	mu   sync.Mutex
	site *site.Site // nil for a version without assets
}

// siteFor returns the site of a version in state: that of old if the bundle is the same.
func siteFor(old *Version, state svc.Upstream) *lazySite {
	if state.BundleDir == "" {
		return nil
	}
	if old != nil && old.site != nil && old.site.dir == state.BundleDir {
		return old.site
	}
	return &lazySite{dir: state.BundleDir}
}

// isUnread reports whether open would read the bundle.
func (s *lazySite) isUnread() bool { return s != nil && !s.read.Load() }

// open returns the assets, nil for none. A bundle that cannot be read is tried again by
// the next request; the worker host reports it.
func (s *lazySite) open() *site.Site {
	if s.read.Load() {
		return s.site
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read.Load() {
		return s.site
	}
	m, err := bundle.Load(s.dir)
	if err != nil {
		return nil
	}
	s.site = site.New(&m, s.dir)
	s.read.Store(true)
	return s.site
}

// findAsset reports whether the assets of v answer the request.
func (x *Request) findAsset(cfg *Config, v *Version) bool {
	if v.site == nil {
		return false
	}
	s := v.site.open()
	if s == nil {
		return false
	}
	r := site.Request{Method: string(x.Req.Method), Host: string(x.Req.Host), Target: string(x.Req.Target), Field: x.field, Prompt: x.InLoop}
	if cfg.Compress && x.Req.Minor > 0 {
		if e := http1.Accepted(x.Hints.Encodings); e != http1.Identity {
			r.Encoding = e.String()
		}
	}
	x.Static.Project = v.Ref.Project
	x.Static.Answer, x.Static.Is = s.Route(&r)
	return x.Static.Is
}

func (x *Request) field(name string) string { return string(x.Req.Get(name)) }

// Static is the answer of a version's static files to a request.
type Static struct {
	Is      bool
	Project string
	site.Answer
}

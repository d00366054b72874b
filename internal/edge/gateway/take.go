package gateway

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// take claims the runtime for the request in x. It waits while the production
// host is held [D20] and while the runtime starts, each within its limit. If it
// fails, it holds no claim.
func (g *Gateway) take(x *request, w waiter) error {
	held, starting := g.cfg.HoldTimeout, g.cfg.StartWait
	for {
		r, err := g.find(x)
		if err != nil {
			return err
		}
		if x.claim.via = ""; r.project != nil {
			x.claim.via = r.project.name
			e, ok := r.project.gate.enter()
			if !ok {
				if err := g.waitHeld(w, e.over, &held, errHeld); err != nil {
					return err
				}
				continue
			}
			x.claim.epoch = e
			// Read the pointer again: only now is it certain to be of this epoch.
			if r, err = g.find(x); err != nil {
				x.claim.leave()
				return err
			}
		}
		err = g.takeVersion(x, r)
		if err == nil {
			return nil
		}
		x.claim.leave()
		switch {
		case errors.Is(err, errRetired): // another table is in place already
		case errors.Is(err, errStarting):
			limit := &starting
			if r.version.state.Planned {
				limit = &held
			}
			if err := g.waitHeld(w, r.version.replaced, limit, errNotStarted); err != nil {
				return err
			}
		case g.replaced(x, r): // its host name has another version meanwhile
		case svc.CodeOf(err) == svc.CodeRuntimeRestarting:
			g.asked(x)
			return err
		default:
			return err
		}
	}
}

// rouse asks once for the runtime of a version that sleeps.
func (g *Gateway) rouse(v *version) {
	if g.cfg.Rouse != nil && v.roused.CompareAndSwap(false, true) {
		g.cfg.Rouse(v.ref)
	}
}

// replaced reports whether the host name of r, which changes its version, has another
// version now.
func (g *Gateway) replaced(x *request, r route) bool {
	if r.project == nil || r.version == nil {
		return false
	}
	now, err := g.find(x)
	return err == nil && now.version != nil && now.version.ref != r.version.ref
}

// asked records and reports a request to a version that is restarted after a wait.
func (g *Gateway) asked(x *request) {
	x.claim.version.stats.of(x.claim.role).last.Store(x.start.UnixNano())
	if g.cfg.Asked != nil {
		g.cfg.Asked(x.claim.ref())
	}
}

// waitHeld waits for ch within the rest of a limit. If too many requests wait, or
// the limit is reached, it returns the error of late.
func (g *Gateway) waitHeld(w waiter, ch <-chan struct{}, left *time.Duration, late func() *svc.Error) error {
	defer g.held.Add(-1)
	if g.held.Add(1) > int64(g.cfg.MaxHeld) || *left <= 0 {
		return late()
	}
	began := time.Now()
	err := w.wait(ch, *left)
	*left -= time.Since(began)
	if errors.Is(err, errTimeout) || errors.Is(err, errClosing) {
		return late()
	}
	return err
}

// takeVersion claims the runtime of r's version if that version may serve x.
func (g *Gateway) takeVersion(x *request, r route) error {
	v := r.version
	x.claim.version, x.claim.role = v, r.role
	serves := v != nil && (v.state.Status.Serves() || v.state.Socket != "" && x.knows(g.cfg.VerifySecret))
	switch {
	case v == nil:
		return errNoVersion(r.project)
	case !serves:
		return errStatus(v)
	case v.state.ReadOnly && x.mayChange():
		return errReadOnly(v.ref.Project)
	case x.inLoop && v.site.isUnread():
		return errBlocks
	case x.call == nil && x.findAsset(&g.cfg, v):
		x.count()
		return nil
	case v.state.Asleep && x.start.Before(v.state.RetryAt):
		return errNotStarted()
	case v.state.Asleep:
		g.rouse(v)
		return errStarting
	case v.state.Starting:
		return errStarting
	case !v.state.RetryAt.IsZero():
		return errRestarting(v, x.start)
	case v.upstream == nil:
		return errNoRuntime(v)
	case !v.upstream.acquire():
		return errRetired
	case g.isFull(v.upstream):
		v.upstream.release()
		return errVersionBusy(v)
	}
	x.claim.upstream = v.upstream
	x.count()
	return nil
}

// count counts the request as one in flight, until its claim is released.
func (x *request) count() {
	x.claim.counted = true
	stats := x.claim.version.stats.of(x.claim.role)
	stats.inflight.Add(1)
	stats.last.Store(x.start.UnixNano())
}

// knows reports whether the request carries the secret.
func (x *request) knows(secret svc.Secret) bool {
	return secret != "" && subtle.ConstantTimeCompare(x.meta.verify, []byte(secret.Reveal())) == 1
}

// find looks the request's host up in the current table.
func (g *Gateway) find(x *request) (route, error) {
	t := g.table.Load()
	if x.call != nil {
		return t.called(*x.call)
	}
	if x.meta.doctor {
		return route{}, errDoctor()
	}
	if len(x.meta.route) > 0 && x.knows(g.cfg.VerifySecret) {
		project, id, _ := bytes.Cut(x.meta.route, []byte{'/'})
		if v := t.version(svc.Ref{Project: string(project), Version: string(id)}); v != nil {
			return route{role: svc.RolePreview, version: v}, nil
		}
		return route{}, errNoRoute()
	}
	if r, ok := t.lookup(x.req.Host); ok {
		return r, nil
	}
	host := string(x.req.Host)
	if ref, role, ok := g.cfg.Ingress.ParseHost(host); ok {
		if v := t.version(ref); role == svc.RolePreview && v != nil {
			return route{role: role, version: v}, nil
		}
	}
	if g.hasSelectors(host) {
		if r, ok := t.selected(x); ok {
			dropSession(&x.req)
			return r, nil
		}
	}
	return route{}, errNoRoute()
}

// hasSelectors reports whether the path selectors work on host: an IP address,
// localhost, or the host name of GATEWAY_URL [D4].
func (g *Gateway) hasSelectors(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return strings.EqualFold(host, "localhost") || g.cfg.PublicHost != "" && strings.EqualFold(host, g.cfg.PublicHost)
}

// selected reads the deprecated path selectors /{project}/… and
// /{project}/{version}/… and removes them from the request [D4]. It is called only
// for hosts with selectors, so it never captures a path of an app.
func (t *table) selected(x *request) (route, bool) {
	target := x.meta.target
	if target == nil {
		target = x.req.Target
		x.meta.target = target
	}
	id, rest := cutSegment(target)
	p := t.project(string(id))
	second, restOfVersion := cutSegment(rest)
	if v := t.version(svc.Ref{Project: string(id), Version: string(second)}); v != nil {
		x.claim.selector, x.req.Target = true, rooted(restOfVersion)
		return route{role: svc.RolePreview, version: v}, true
	}
	if p == nil {
		return route{}, false
	}
	x.claim.selector, x.req.Target = true, rooted(rest)
	return t.routeOf(p), true
}

// cutSegment removes the first segment of a path: "/a/b?c" is "a" and "/b?c".
func cutSegment(target []byte) (segment, rest []byte) {
	if len(target) == 0 || target[0] != '/' {
		return nil, target
	}
	i := bytes.IndexAny(target[1:], "/?")
	if i < 0 {
		return target[1:], nil
	}
	return target[1 : 1+i], target[1+i:]
}

// rooted returns target with a slash in front.
func rooted(target []byte) []byte {
	if len(target) > 0 && target[0] == '/' {
		return target
	}
	return append([]byte{'/'}, target...)
}

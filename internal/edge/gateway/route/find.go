package route

import (
	"bytes"
	"net"
	"net/netip"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// find looks the request's host up in the current table.
func (r *Router) find(x *Request) (route, error) {
	t := r.table.Load()
	if x.Call != nil {
		return t.called(*x.Call)
	}
	if x.Hints.Doctor {
		return route{}, errDoctor()
	}
	if len(x.Hints.Route) > 0 && x.knows(r.cfg.VerifySecret) {
		project, id, _ := bytes.Cut(x.Hints.Route, []byte{'/'})
		if v := t.version(svc.Ref{Project: string(project), Version: string(id)}); v != nil {
			return route{role: svc.RolePreview, version: v}, nil
		}
		return route{}, errNoRoute()
	}
	if to, ok := t.lookup(x.Req.Host); ok {
		if to.redirect != "" {
			return route{}, errRedirect(to.redirect)
		}
		return to, nil
	}
	host := string(x.Req.Host)
	if ref, role, ok := r.cfg.Ingress.ParseHost(host); ok {
		if v := t.version(ref); role == svc.RolePreview && v != nil {
			return route{role: role, version: v}, nil
		}
	}
	if r.hasSelectors(host) {
		if to, ok := t.selected(x); ok {
			dropSession(&x.Req)
			return to, nil
		}
	}
	return route{}, errNoRoute()
}

// hasSelectors reports whether the path selectors work on host: an IP address,
// localhost, or the host name of GATEWAY_URL [D4].
func (r *Router) hasSelectors(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return strings.EqualFold(host, "localhost") || r.cfg.PublicHost != "" && strings.EqualFold(host, r.cfg.PublicHost)
}

// selected reads the deprecated path selectors /{project}/… and
// /{project}/{version}/… and removes them from the request [D4]. It is called only
// for hosts with selectors, so it never captures a path of an app.
func (t *table) selected(x *Request) (route, bool) {
	target := x.Hints.Target
	if target == nil {
		target = x.Req.Target
		x.Hints.Target = target
	}
	id, rest := cutSegment(target)
	p := t.project(string(id))
	second, restOfVersion := cutSegment(rest)
	if v := t.version(svc.Ref{Project: string(id), Version: string(second)}); v != nil {
		x.Claim.Selector, x.Req.Target = true, rooted(restOfVersion)
		return route{role: svc.RolePreview, version: v}, true
	}
	if p == nil {
		return route{}, false
	}
	x.Claim.Selector, x.Req.Target = true, rooted(rest)
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

// called finds the version that a call is for.
func (t *table) called(ref svc.Ref) (route, error) {
	if ref.Version == "" {
		p := t.project(ref.Project)
		if p == nil {
			return route{}, errNoCallee(ref)
		}
		return t.routeOf(p), nil
	}
	if v := t.version(ref); v != nil {
		return route{role: svc.RolePreview, version: v}, nil
	}
	if p := t.preview(ref); p != nil {
		return t.routeOf(p), nil
	}
	return route{}, errNoCallee(ref)
}

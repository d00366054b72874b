package project

import (
	"encoding/json"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// services reads the bindings to workers: the worker itself, or other projects of the server.
func (l *layers) services(f *File) {
	l.entries("services", func(at string, n *node) {
		l.r.members(n, at, []string{"binding", "service", "entrypoint", "props", "environment"}, []string{"remote"})
		text := func(key string) string { return l.r.text(n.get(key), at+"."+key) }
		s := Service{Binding: l.nameOf(n, at, "binding"), Name: l.worker(n.get("service"), at+".service"), Entrypoint: text("entrypoint"), Version: text("environment")}
		if s.Name == "" {
			l.r.problem(svc.CodeConfigInvalid, at, n.pos, `%s has no "service"%s`, at, typo(n, "service"))
			return
		}
		s.Props = l.props(n.get("props"), at+".props")
		s.Self = s.Name == f.Name && s.Version == ""
		s.Optional = !s.Self && l.allowed["services"]
		f.Services = append(f.Services, s)
	})
}

// objectService is the binding to objects of another worker; false for those of the
// worker itself.
func (l *layers) objectService(f *File, n *node, at string, b ObjectBinding) (Service, bool) {
	script := l.worker(n.get("script_name"), at+".script_name")
	if script == "" || script == f.Name {
		return Service{}, false
	}
	return Service{
		Binding: b.Binding, Name: script, Class: b.Class, Version: l.r.text(n.get("environment"), at+".environment"),
		Optional: l.allowed["services"],
	}, true
}

// tails reads the workers that get records of this one's events.
func (l *layers) tails(f *File) {
	l.entries("tail_consumers", func(at string, n *node) {
		l.r.members(n, at, []string{"service", "environment"}, nil)
		c := bundle.TailConsumer{
			Service: l.worker(n.get("service"), at+".service"), Version: l.r.text(n.get("environment"), at+".environment"),
			Optional: l.allowed["services"] || l.allowed["tail_consumers"],
		}
		switch c.Service {
		case "":
			l.r.problem(svc.CodeConfigInvalid, at, n.pos, `%s has no "service"%s`, at, typo(n, "service"))
		case f.Name:
			l.r.problem(svc.CodeConfigUnsupported, at, n.pos, "%s names the worker itself, which cannot consume its own records", at)
		default:
			f.TailConsumers = append(f.TailConsumers, c)
		}
	})
}

// props reads the object that an entrypoint gets; nil for none.
func (l *layers) props(n *node, at string) json.RawMessage {
	if n == nil || !l.r.is(n, at, kindObject) {
		return nil
	}
	return n.raw
}

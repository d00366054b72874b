package project

import (
	"encoding/json"

	"github.com/svcctl/svcctl/internal/svc"
)

// services reads the bindings to workers: the worker itself, or other projects of the server.
func (l *layers) services(f *File) {
	l.entries("services", func(at string, n *node) {
		l.r.members(n, at, []string{"binding", "service", "entrypoint", "props", "environment"}, []string{"remote"})
		text := func(key string) string { return l.r.text(n.get(key), at+"."+key) }
		s := Service{Binding: l.binding(n, at), Name: text("service"), Entrypoint: text("entrypoint"), Version: text("environment")}
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

// props reads the object that an entrypoint gets; nil for none.
func (l *layers) props(n *node, at string) json.RawMessage {
	if n == nil || !l.r.is(n, at, kindObject) {
		return nil
	}
	return n.raw
}

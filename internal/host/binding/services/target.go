package services

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/svc"
)

// Target is what a binding calls.
type Target struct {
	Project string
	Version string // its id, or the name of a preview; "" for production
}

// String is "project" or "project/version".
func (t Target) String() string {
	if t.Version == "" {
		return t.Project
	}
	return t.Project + "/" + t.Version
}

// Socket is the name of the socket of a target in the run directory of a caller.
func (t Target) Socket() string {
	sum := sha256.Sum256([]byte(t.String()))
	return "c" + hex.EncodeToString(sum[:4]) // paths of sockets are short
}

// AskSocket is the name of the socket, in the run directory of a caller, that tells by HTTP why a
// target cannot be called: GET /<socket of the target>.
const AskSocket = "ask.sock"

// Declared is a binding to another project, or to another version of the same one.
type Declared struct {
	Target

	Binding  string // "" for a tail consumer
	Optional bool   // the target may be missing until it is called
	Class    string // of Durable Objects, if the binding is to these
}

// String says what declares the target.
func (d Declared) String() string {
	if d.Binding == "" {
		return "tail consumer"
	}
	return "binding " + d.Binding
}

// ObjectKey is the key in binding.Site.ObjectKeys of a class of a target.
func ObjectKey(t Target, class string) string { return t.String() + " " + class }

// Targets are the bindings of m, the manifest of self, to other workers, and its tail
// consumers.
func Targets(m *bundle.Manifest, self svc.Ref) (list []Declared) {
	for _, d := range m.Bindings {
		if d.Kind != kinds.Service {
			continue
		}
		c, err := bundle.ConfigOf[kinds.ServiceConfig](d)
		if t := targetOf(d, c, self); err == nil && t.Project != "" { // the worker host rejects an invalid config
			list = append(list, Declared{Target: t, Binding: d.Name, Optional: c.Optional, Class: c.ObjectClass})
		}
	}
	for _, c := range m.TailConsumers {
		list = append(list, Declared{Target: tailTarget(c), Optional: c.Optional})
	}
	return list
}

// Distinct are the targets of list, each once.
func Distinct(list []Declared) (targets []Target) {
	for _, d := range list {
		if !slices.Contains(targets, d.Target) {
			targets = append(targets, d.Target)
		}
	}
	return targets
}

// targetOf is zero for the worker itself.
func targetOf(d bundle.Binding, c kinds.ServiceConfig, self svc.Ref) Target {
	if c.Self || d.Resource == self.Project && c.Version == "" {
		return Target{}
	}
	return named(d.Resource, c.Version)
}

func named(project, version string) Target {
	if version == production {
		version = ""
	}
	return Target{Project: project, Version: version}
}

// production is wrangler's name of the environment that a binding without one calls.
const production = "production"

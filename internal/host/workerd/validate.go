package workerd

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// internet is the service that workerd defines when the config does not.
const internet = "internet"

// maxUnixPath is the longest path that fits sockaddr_un on every platform.
const maxUnixPath = 103

// checker collects everything that is wrong with a config.
type checker struct {
	services map[string]bool
	errs     []error
}

func (c *checker) addf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *checker) ref(where, service string) {
	if service != "" && !c.services[service] {
		c.addf("%s refers to service %q, which is not defined", where, service)
	}
}

func (c *checker) text(where, s string) {
	if !utf8.ValidString(s) {
		c.addf("%s is not valid UTF-8", where)
	}
}

// names refuses empty and repeated names.
func names[T any](c *checker, what string, items []T, name func(T) string) {
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		n := name(item)
		switch {
		case n == "":
			c.addf("%s without a name", what)
		case seen[n]:
			c.addf("%s %q is there twice", what, n)
		}
		c.text("the name of "+what, n)
		seen[n] = true
	}
}

func (c Config) validate() error {
	ch := &checker{services: map[string]bool{internet: true}}
	for _, s := range c.Services {
		ch.services[s.Name] = true
	}
	names(ch, "service", c.Services, func(s Service) string { return s.Name })
	for _, s := range c.Services {
		ch.service(s)
	}
	if len(c.Sockets) == 0 {
		ch.addf("no sockets")
	}
	names(ch, "socket", c.Sockets, func(s Socket) string { return s.Name })
	for _, s := range c.Sockets {
		where := fmt.Sprintf("socket %q", s.Name)
		ch.address(where, s.Address)
		ch.serviceRef(where, s.Service)
	}
	names(ch, "extension module", c.Extensions, func(m Module) string { return m.Name })
	for _, m := range c.Extensions {
		if m.Type != ESModule {
			ch.addf("extension module %q is not an ES module", m.Name)
		}
		ch.module("extension", m)
	}
	for _, f := range c.V8Flags {
		ch.text("a V8 flag", f)
	}
	return errors.Join(ch.errs...)
}

func (c *checker) service(s Service) {
	where := fmt.Sprintf("service %q", s.Name)
	parts := count(s.Worker != nil, s.External != nil, s.Network != nil, s.Disk != nil)
	if parts != 1 {
		c.addf("%s has %d parts, not one", where, parts)
		return
	}
	switch {
	case s.Worker != nil:
		c.worker(where, s.Worker)
	case s.External != nil:
		c.address(where, s.External.Address)
		for _, h := range s.External.InjectRequestHeaders {
			if h.Name == "" {
				c.addf("%s injects a header without a name", where)
			}
			c.text(where+" header "+h.Name, h.Name+h.Value)
		}
	case s.Network != nil:
		if len(s.Network.Allow) == 0 {
			c.addf("%s allows nothing", where)
		}
	case s.Disk != nil:
		c.path(where, s.Disk.Path)
	}
}

func (c *checker) worker(where string, w *Worker) {
	if len(w.Modules) == 0 {
		c.addf("%s has no modules", where)
	} else if w.Modules[0].Type != ESModule {
		c.addf("%s: the entry point %q is not an ES module", where, w.Modules[0].Name)
	}
	if w.CompatibilityDate == "" {
		c.addf("%s has no compatibility date", where)
	}
	names(c, where+": module", w.Modules, func(m Module) string { return m.Name })
	for _, m := range w.Modules {
		c.module(where, m)
	}
	c.ref(where, w.GlobalOutbound)
	c.ref(where, w.CacheAPIOutbound)
	c.objectClasses(where, w)
	c.bindings(where, w.Bindings)
	for _, t := range w.Tails {
		c.serviceRef(where+": tail", t)
	}
}

func (c *checker) objectClasses(where string, w *Worker) {
	names(c, where+": class of objects", w.ObjectClasses, func(o ObjectClass) string { return o.Name })
	names(c, where+": key of a class", w.ObjectClasses, func(o ObjectClass) string { return o.Key })
	for _, o := range w.ObjectClasses {
		if o.Key != filepath.Base(o.Key) || o.Key[0] == '.' {
			c.addf("%s: the key %q of a class is not the name of a directory", where, o.Key)
		}
	}
	c.ref(where, w.ObjectStorage)
}

func (c *checker) module(where string, m Module) {
	where += fmt.Sprintf(": module %q", m.Name)
	switch m.Type {
	case ESModule, CommonJS, Text, JSON:
		c.text(where, m.Source)
	case Data, Wasm:
	default:
		c.addf("%s has unknown type %q", where, m.Type)
	}
	if m.Path != "" {
		if m.Source != "" {
			c.addf("%s has both a source and a path", where)
		}
		c.path(where, m.Path)
	}
}

func (c *checker) bindings(where string, bs []Binding) {
	names(c, where+": binding", bs, func(b Binding) string { return b.Name })
	for _, b := range bs {
		c.binding(fmt.Sprintf("%s: binding %q", where, b.Name), b)
	}
}

func (c *checker) binding(where string, b Binding) {
	values := count(b.Text != nil, b.JSON != nil, b.Service != nil, b.Wrapped != nil, b.Hyperdrive != nil,
		b.KVNamespace != "", b.R2Bucket != "", b.Queue != "", b.ObjectClass != "", b.DebugPort)
	if values != 1 {
		c.addf("%s has %d values, not one", where, values)
		return
	}
	c.ref(where, b.KVNamespace)
	c.ref(where, b.R2Bucket)
	c.ref(where, b.Queue)
	c.ref(where, b.ObjectService)
	switch {
	case b.Text != nil:
		c.text(where, *b.Text)
	case b.JSON != nil:
		c.json(where, *b.JSON)
	case b.Service != nil:
		c.serviceRef(where, *b.Service)
	case b.Wrapped != nil:
		if b.Wrapped.Module == "" {
			c.addf("%s wraps no module", where)
		}
		c.bindings(where, b.Wrapped.Inner)
	case b.Hyperdrive != nil:
		c.ref(where, b.Hyperdrive.Service)
		c.text(where, b.Hyperdrive.Database+b.Hyperdrive.User+b.Hyperdrive.Password)
	}
}

func (c *checker) serviceRef(where string, r ServiceRef) {
	if r.Name == "" {
		c.addf("%s refers to no service", where)
	}
	c.ref(where, r.Name)
	if r.Props != "" {
		c.json(where+" props", r.Props)
	}
}

// json does not repeat the value, which may be a secret.
func (c *checker) json(where, s string) {
	c.text(where, s)
	if !json.Valid([]byte(s)) {
		c.addf("%s is not valid JSON", where)
	}
}

func (c *checker) path(where, p string) {
	c.text(where, p)
	if !filepath.IsAbs(p) {
		c.addf("%s: path %q is not absolute", where, p)
	}
}

func (c *checker) address(where, a string) {
	p, unix := strings.CutPrefix(a, "unix:")
	switch {
	case a == "":
		c.addf("%s has no address", where)
	case unix && len(p) > maxUnixPath:
		c.addf("%s: socket path %q is longer than %d bytes", where, p, maxUnixPath)
	case unix:
		c.path(where, p)
	default:
		c.text(where, a)
	}
}

func count(set ...bool) int {
	n := 0
	for _, s := range set {
		if s {
			n++
		}
	}
	return n
}

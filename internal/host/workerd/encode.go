package workerd

import (
	"fmt"
	"os"
)

// Encode writes c as the message that `workerd serve --binary` reads: what Render writes as
// text, with the content of modules in it, which Encode reads from their Path. The layouts
// of structs are those of the workerd.capnp of Version; a test compares the message with the
// one that workerd itself makes of the text.
func Encode(c Config) ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("workerd config: %w", err)
	}
	e := &encoder{}
	e.alloc(1) // the root pointer
	root := e.structure(0, 1, 7)
	structures(&e.message, root.ptr(0), layout{1, 2}, c.Services, e.service)
	structures(&e.message, root.ptr(1), layout{2, 5}, c.Sockets, e.socket)
	e.texts(root.ptr(2), c.V8Flags)
	if len(c.Extensions) > 0 {
		structures(&e.message, root.ptr(3), layout{0, 1}, [][]Module{c.Extensions}, func(o object, list []Module) {
			structures(&e.message, o.ptr(0), layout{1, 2}, list, e.extension)
		})
	}
	e.bit(e.structure(root.ptr(5), 1, 2), 0, true) // structured logging
	if e.err != nil {
		return nil, fmt.Errorf("workerd config: %w", e.err)
	}
	return e.bytes(), nil
}

// encoder writes the structs of workerd.capnp.
type encoder struct {
	message

	err error // of the first module that could not be read
}

func (e *encoder) content(m Module) string {
	if m.Path == "" {
		return m.Source
	}
	b, err := os.ReadFile(m.Path)
	if err != nil && e.err == nil {
		e.err = err
	}
	return string(b)
}

func (e *encoder) extension(o object, m Module) {
	e.text(o.ptr(0), m.Name)
	e.bit(o, 0, !m.Public)
	e.text(o.ptr(1), e.content(m))
}

func (e *encoder) service(o object, s Service) {
	e.text(o.ptr(0), s.Name)
	switch at := o.ptr(1); {
	case s.Worker != nil:
		e.choose(o, 1)
		e.worker(e.structure(at, 1, 16), s.Worker)
	case s.Network != nil:
		e.choose(o, 2)
		n := e.structure(at, 0, 3)
		e.texts(n.ptr(0), s.Network.Allow)
		e.texts(n.ptr(1), s.Network.Deny)
		e.bit(e.structure(n.ptr(2), 1, 3), 1, true) // trustBrowserCas
	case s.External != nil:
		e.choose(o, 3)
		e.external(e.structure(at, 1, 4), s.External)
	case s.Disk != nil:
		e.choose(o, 4)
		d := e.structure(at, 1, 1)
		e.text(d.ptr(0), s.Disk.Path)
		e.bit(d, 0, s.Disk.Writable)
	}
}

func (e *encoder) external(o object, x *External) {
	e.text(o.ptr(0), x.Address)
	if x.TCP {
		e.choose(o, 2)
		return
	}
	http := e.http(o.ptr(1), x.ForwardedProtoHeader, x.CFBlobHeader)
	structures(&e.message, http.ptr(2), layout{0, 2}, x.InjectRequestHeaders, func(o object, h Header) {
		e.text(o.ptr(0), h.Name)
		e.text(o.ptr(1), h.Value)
	})
}

// http makes HttpOptions.
func (e *encoder) http(p int, proto, cf string) object {
	o := e.structure(p, 1, 5)
	e.str(o.ptr(0), proto)
	e.str(o.ptr(1), cf)
	return o
}

func (e *encoder) socket(o object, s Socket) {
	e.text(o.ptr(0), s.Name)
	e.text(o.ptr(1), s.Address)
	e.http(o.ptr(2), s.ForwardedProtoHeader, s.CFBlobHeader)
	e.ref(o.ptr(4), s.Service)
}

// ref makes a ServiceDesignator.
func (e *encoder) ref(p int, r ServiceRef) { e.serviceRef(e.structure(p, 1, 3), r) }

func (e *encoder) serviceRef(o object, r ServiceRef) {
	e.text(o.ptr(0), r.Name)
	e.str(o.ptr(1), r.Entrypoint)
	if r.Props != "" {
		e.choose(o, 1)
		e.text(o.ptr(2), r.Props)
	}
}

// refTo is a ref without options, or none.
func (e *encoder) refTo(p int, service string) {
	if service != "" {
		e.ref(p, ServiceRef{Name: service})
	}
}

func (e *encoder) worker(o object, w *Worker) {
	structures(&e.message, o.ptr(0), layout{1, 3}, w.Modules, e.module)
	e.str(o.ptr(1), w.CompatibilityDate)
	e.texts(o.ptr(2), w.CompatibilityFlags)
	structures(&e.message, o.ptr(3), layout{1, 6}, w.Bindings, e.binding)
	e.refTo(o.ptr(4), w.GlobalOutbound)
	e.refTo(o.ptr(7), w.CacheAPIOutbound)
	structures(&e.message, o.ptr(5), layout{1, 4}, w.ObjectClasses, func(o object, c ObjectClass) {
		e.text(o.ptr(0), c.Name)
		e.text(o.ptr(1), c.Key)
		e.bit(o, 17, c.SQL)
	})
	switch { // the tag of the second union
	case len(w.ObjectClasses) == 0:
	case w.ObjectStorage == "":
		e.bit(o, 16, true) // 1: inMemory
	default:
		e.bit(o, 17, true) // 2: localDisk
		e.text(o.ptr(8), w.ObjectStorage)
	}
	structures(&e.message, o.ptr(10), layout{1, 3}, w.Tails, e.serviceRef)
}

func (e *encoder) module(o object, m Module) {
	tags := map[ModuleType]uint16{ESModule: 0, CommonJS: 1, Text: 2, Data: 3, Wasm: 4, JSON: 5}
	e.choose(o, tags[m.Type])
	e.text(o.ptr(0), m.Name)
	if content := e.content(m); m.Type.binary() {
		e.blob(o.ptr(1), content)
	} else {
		e.text(o.ptr(1), content)
	}
}

func (e *encoder) binding(o object, b Binding) {
	e.text(o.ptr(0), b.Name)
	switch at := o.ptr(1); {
	case b.Text != nil:
		e.choose(o, 2)
		e.text(at, *b.Text)
	case b.JSON != nil:
		e.choose(o, 4)
		e.text(at, *b.JSON)
	case b.Service != nil:
		e.choose(o, 7)
		e.ref(at, *b.Service)
	case b.ObjectClass != "":
		e.choose(o, 8)
		n := e.structure(at, 0, 2)
		e.text(n.ptr(0), b.ObjectClass)
		e.str(n.ptr(1), b.ObjectService)
	case b.KVNamespace != "":
		e.choose(o, 9)
		e.refTo(at, b.KVNamespace)
	case b.R2Bucket != "":
		e.choose(o, 10)
		e.refTo(at, b.R2Bucket)
	case b.Wrapped != nil:
		e.choose(o, 12)
		w := e.structure(at, 0, 3)
		e.text(w.ptr(0), b.Wrapped.Module)
		e.str(w.ptr(1), b.Wrapped.Entrypoint)
		structures(&e.message, w.ptr(2), layout{1, 6}, b.Wrapped.Inner, e.binding)
	case b.Queue != "":
		e.choose(o, 13)
		e.refTo(at, b.Queue)
	case b.Hyperdrive != nil:
		e.choose(o, 16)
		h := b.Hyperdrive
		e.refTo(at, h.Service)
		for i, text := range []string{h.Database, h.User, h.Password, h.Scheme} {
			e.text(o.ptr(i+2), text)
		}
	case b.DebugPort:
		e.choose(o, 21)
	}
}

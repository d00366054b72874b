package workerd

import (
	"fmt"
	"strings"
)

// Render writes c as the text that `workerd serve` reads, or says everything
// that is wrong with it. Equal configs render to equal bytes. The text holds the
// values of bindings, secrets among them: keep it from other users.
func Render(c Config) ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("workerd config: %w", err)
	}
	var b strings.Builder
	b.WriteString("using Workerd = import \"/workerd/workerd.capnp\";\n\nconst config :Workerd.Config = (\n")
	section(&b, "services", c.Services, Service.text)
	section(&b, "sockets", c.Sockets, Socket.text)
	if len(c.Extensions) > 0 {
		b.WriteString("  extensions = [(modules = [\n")
		for _, m := range c.Extensions {
			b.WriteString("    " + m.extension() + ",\n")
		}
		b.WriteString("  ])],\n")
	}
	if len(c.V8Flags) > 0 {
		b.WriteString("  v8Flags = " + texts(c.V8Flags) + ",\n")
	}
	b.WriteString("  logging = (structuredLogging = true),\n);\n")
	return []byte(b.String()), nil
}

// section writes one item a line.
func section[T any](b *strings.Builder, name string, items []T, text func(T) string) {
	b.WriteString("  " + name + " = [\n")
	for _, item := range items {
		b.WriteString("    " + text(item) + ",\n")
	}
	b.WriteString("  ],\n")
}

// fields collects the fields of a capnp struct.
type fields []string

// add adds a field whose value is capnp text already.
func (f *fields) add(name, value string) { *f = append(*f, name+" = "+value) }

// str adds a Text field unless it is empty.
func (f *fields) str(name, value string) {
	if value != "" {
		f.add(name, quote(value))
	}
}

func (f fields) String() string { return "(" + strings.Join(f, ", ") + ")" }

func list[T any](items []T, text func(T) string) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = text(item)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func texts(items []string) string { return list(items, quote) }

func (s Service) text() string {
	f := fields{"name = " + quote(s.Name)}
	switch {
	case s.Worker != nil:
		f.add("worker", s.Worker.text())
	case s.External != nil:
		f.add("external", s.External.text())
	case s.Network != nil:
		f.add("network", s.Network.text())
	case s.Disk != nil:
		f.add("disk", s.Disk.text())
	}
	return f.String()
}

func (w *Worker) text() string {
	f := fields{"modules = " + list(w.Modules, Module.text)}
	f.str("compatibilityDate", w.CompatibilityDate)
	if len(w.CompatibilityFlags) > 0 {
		f.add("compatibilityFlags", texts(w.CompatibilityFlags))
	}
	if len(w.Bindings) > 0 {
		f.add("bindings", list(w.Bindings, Binding.text))
	}
	f.str("globalOutbound", w.GlobalOutbound)
	f.str("cacheApiOutbound", w.CacheAPIOutbound)
	if len(w.ObjectClasses) > 0 {
		f.add("durableObjectNamespaces", list(w.ObjectClasses, ObjectClass.text))
		storage := "(inMemory = void)"
		if w.ObjectStorage != "" {
			storage = "(localDisk = " + quote(w.ObjectStorage) + ")"
		}
		f.add("durableObjectStorage", storage)
	}
	if len(w.Tails) > 0 {
		f.add("tails", list(w.Tails, ServiceRef.text))
	}
	return f.String()
}

func (c ObjectClass) text() string {
	f := fields{"className = " + quote(c.Name)}
	f.add("uniqueKey", quote(c.Key))
	if c.SQL {
		f.add("enableSql", "true")
	}
	return f.String()
}

func (e *External) text() string {
	var http fields
	http.str("forwardedProtoHeader", e.ForwardedProtoHeader)
	http.str("cfBlobHeader", e.CFBlobHeader)
	if len(e.InjectRequestHeaders) > 0 {
		http.add("injectRequestHeaders", list(e.InjectRequestHeaders, Header.text))
	}
	f := fields{"address = " + quote(e.Address)}
	if e.TCP {
		f.add("tcp", "()")
		return f.String()
	}
	f.add("http", http.String())
	return f.String()
}

func (h Header) text() string {
	return "(name = " + quote(h.Name) + ", value = " + quote(h.Value) + ")"
}

func (n *Network) text() string {
	f := fields{"allow = " + texts(n.Allow)}
	if len(n.Deny) > 0 {
		f.add("deny", texts(n.Deny))
	}
	f.add("tlsOptions", "(trustBrowserCas = true)")
	return f.String()
}

func (d *Disk) text() string {
	f := fields{"path = " + quote(d.Path)}
	if d.Writable {
		f.add("writable", "true")
	}
	return f.String()
}

func (s Socket) text() string {
	var http fields
	http.str("forwardedProtoHeader", s.ForwardedProtoHeader)
	http.str("cfBlobHeader", s.CFBlobHeader)
	f := fields{"name = " + quote(s.Name)}
	f.add("address", quote(s.Address))
	f.add("service", s.Service.text())
	f.add("http", http.String())
	return f.String()
}

func (m Module) text() string {
	return "(name = " + quote(m.Name) + ", " + string(m.Type) + " = " + m.content() + ")"
}

func (m Module) extension() string {
	return fmt.Sprintf("(name = %s, internal = %t, esModule = %s)", quote(m.Name), !m.Public, m.content())
}

func (m Module) content() string {
	switch {
	case m.Path != "":
		return "embed " + quote(m.Path)
	case m.Type.binary():
		return quoteData(m.Source)
	default:
		return quote(m.Source)
	}
}

func (t ModuleType) binary() bool { return t == Data || t == Wasm }

func (r ServiceRef) text() string {
	if r.Entrypoint == "" && r.Props == "" {
		return quote(r.Name)
	}
	f := fields{"name = " + quote(r.Name)}
	f.str("entrypoint", r.Entrypoint)
	if r.Props != "" {
		f.add("props", "(json = "+quote(r.Props)+")")
	}
	return f.String()
}

func (b Binding) text() string {
	f := fields{"name = " + quote(b.Name)}
	switch {
	case b.Text != nil:
		f.add("text", quote(*b.Text))
	case b.JSON != nil:
		f.add("json", quote(*b.JSON))
	case b.Service != nil:
		f.add("service", b.Service.text())
	case b.Wrapped != nil:
		f.add("wrapped", b.Wrapped.text())
	case b.Hyperdrive != nil:
		f.add("hyperdrive", b.Hyperdrive.text())
	}
	if b.DebugPort {
		f.add("workerdDebugPort", "void")
	}
	f.str("kvNamespace", b.KVNamespace)
	f.str("r2Bucket", b.R2Bucket)
	f.str("queue", b.Queue)
	if b.ObjectService != "" {
		f.add("durableObjectNamespace", "(className = "+quote(b.ObjectClass)+", serviceName = "+quote(b.ObjectService)+")")
	} else {
		f.str("durableObjectNamespace", b.ObjectClass)
	}
	return f.String()
}

func (h *Hyperdrive) text() string {
	f := fields{"designator = " + quote(h.Service)}
	f.add("database", quote(h.Database))
	f.add("user", quote(h.User))
	f.add("password", quote(h.Password))
	f.add("scheme", quote(h.Scheme))
	return f.String()
}

func (w *Wrapped) text() string {
	f := fields{"moduleName = " + quote(w.Module)}
	f.str("entrypoint", w.Entrypoint)
	f.add("innerBindings", list(w.Inner, Binding.text))
	return f.String()
}

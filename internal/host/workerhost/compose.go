package workerhost

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/durableobject"
	"github.com/svcctl/svcctl/internal/host/binding/services"
	"github.com/svcctl/svcctl/internal/host/cache"
	"github.com/svcctl/svcctl/internal/host/door"
	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/host/script"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// The headers on the worker's sockets that only the gateway may set: the scheme
// of the request, and request.cf as JSON. workerd takes them off.
const (
	ProtoHeader = "X-Svc-Proto"
	CFHeader    = "X-Svc-Cf"
)

// The files in a run directory.
const (
	httpSocket    = "http.sock"    // the worker, for the gateway
	pingSocket    = "ping.sock"    // workerd, for Ping
	bindingSocket = "binding.sock" // the host, for workerd
	doorSocket    = "door.sock"    // the dispatch shim, for the host
	waitSocket    = "wait.sock"    // the worker's entrypoint entry.Waiting, for the host
	callSocket    = "call.sock"    // every service of workerd, for calls of other workers
	pingDir       = "ping"         // empty
)

// The services and sockets in workerd's config. Bindings' services have a colon
// in their names.
const (
	workerName   = services.Worker
	internetName = "internet"
	httpName     = "http"
	pingName     = "ping"
	waitName     = "wait"
	callName     = "debug-port" // as workerd calls it
	objectsName  = "objects"
)

// Composition is what a workerd config is composed of.
type Composition struct {
	Manifest  *bundle.Manifest
	BundleDir string
	Main      string // text of the entry module; "" takes it from its file
	Env       []workerd.Binding
	Wirings   []binding.Wiring
	RunDir    string
	HeapMB    int
	MemoryMB  int              // limit of the pair; 0 for none
	Network   *workerd.Network // outbound
	// Subrequests is the limit for one invocation; 0 for none.
	Subrequests int

	Site binding.Site // where tail consumers are reached

	Door      bool   // the worker can be sent events
	Objects   string // the directory for Durable Objects; "" for none
	Namespace svc.ObjectNamespace
	Held      bool // their alarms wait
}

// Compose is the config of a version's workerd. The worker listens for the
// gateway on a unix socket, where a client that hangs up is noticed.
func Compose(c Composition) workerd.Config {
	toWorker := workerd.ServiceRef{Name: workerName}
	unix := func(name string) string { return "unix:" + filepath.Join(c.RunDir, name) }
	worker := c.worker()
	config := workerd.Config{
		Services: []workerd.Service{
			{Name: workerName, Worker: worker},
			{Name: internetName, Network: c.Network},
			{Name: pingName, Disk: &workerd.Disk{Path: filepath.Join(c.RunDir, pingDir)}},
			cache.Service(unix(bindingSocket)),
		},
		Sockets: []workerd.Socket{
			{Name: httpName, Address: unix(httpSocket), Service: toWorker, ForwardedProtoHeader: ProtoHeader, CFBlobHeader: CFHeader},
			{Name: pingName, Address: unix(pingSocket), Service: workerd.ServiceRef{Name: pingName}},
			{Name: waitName, Address: unix(waitSocket), Service: workerd.ServiceRef{Name: workerName, Entrypoint: entry.Waiting}},
		},
		Extensions: entry.Extensions(c.Subrequests, c.Site.Traced, c.Held),
		V8Flags:    c.v8Flags(),
	}
	if c.Door {
		config.Services = append(config.Services, door.Service(workerName, binding.Events(c.Wirings)...))
		config.Sockets = append(config.Sockets, door.Socket(filepath.Join(c.RunDir, doorSocket)))
	}
	worker.Bindings = append(worker.Bindings, binding.AddTo(&config, slices.Concat(c.withSite(unix(bindingSocket)), c.hidden()))...)
	tails, relays := services.Tails(c.Manifest, c.Site)
	worker.Tails = tails
	binding.AddTo(&config, []binding.Wiring{{Services: relays}})
	if c.Objects != "" {
		worker.ObjectClasses, worker.ObjectStorage = c.objectClasses(), objectsName
		config.Services = append(config.Services, workerd.Service{Name: objectsName, Disk: &workerd.Disk{Path: c.Objects, Writable: true}})
	}
	return config
}

// v8Flags keep the heap below HeapMB. Where memory is limited, the first full collection comes
// early: the requests and responses of served requests hold memory outside of the heap until
// then, which workerd never gives back, 350 MB of it for a worker that answers "hello". The
// flags leave a worker the heap that it may have; --max-heap-size would not. CPU time of workerd
// with them: 1.0x for "hello", 0.84x for a KV get, 1.12x for a D1 select. The entry module uses gc
// between requests and hides it from the worker (entry/collect.js).
//
// V8 compiles hot code beside the requests, but installs it only while a request runs: after short
// requests with rests between them it often stays in the slow tier, 4 to 15 times as slow. Without
// concurrent compiles there is no such code.
func (c Composition) v8Flags() []string {
	flags := []string{fmt.Sprintf("--max-old-space-size=%d", c.HeapMB), "--no-concurrent-recompilation", "--expose-gc"}
	if c.MemoryMB > 0 {
		flags = append(flags, "--initial-heap-size=8", "--max-semi-space-size=1")
	}
	return flags
}

func (c Composition) worker() *workerd.Worker {
	modules := c.modules()
	if c.isScript() {
		modules = script.Modules(modules)
	}
	return &workerd.Worker{
		Modules:            entry.Before(modules, c.hasFiles(), c.hidesObjects()),
		CompatibilityDate:  c.Manifest.CompatibilityDate,
		CompatibilityFlags: c.Manifest.CompatibilityFlags,
		Bindings:           slices.Clone(c.Env),
		GlobalOutbound:     internetName,
		CacheAPIOutbound:   cache.ServiceName,
	}
}

func (c Composition) objectClasses() (list []workerd.ObjectClass) {
	for _, o := range c.Manifest.ObjectClasses {
		if !o.Deleted {
			list = append(list, workerd.ObjectClass{Name: o.Name, Key: c.Namespace.Key(o.Key), SQL: o.SQL})
		}
	}
	return list
}

// hidesObjects reports whether the worker has Durable Objects that it can reach by ctx.exports alone.
func (c Composition) hidesObjects() bool {
	return c.Objects != "" && len(c.objectClasses()) > 0 && !slices.Contains(c.Manifest.CompatibilityFlags, hidesEnv) &&
		!slices.ContainsFunc(c.Wirings, durableobject.GivesTurns)
}

// hidden is the binding by which calls of such objects take turns.
func (c Composition) hidden() []binding.Wiring {
	if !c.hidesObjects() {
		return nil
	}
	return []binding.Wiring{durableobject.Namespace(entry.Objects, c.objectClasses()[0].Name, binding.Site{})}
}

// isScript reports whether the worker is in service-worker format.
func (c Composition) isScript() bool {
	return slices.ContainsFunc(c.Manifest.Modules, func(m bundle.Module) bool { return m.Type == bundle.Script })
}

// modules has the main module first; the others are read by workerd from the
// bundle, so nothing is copied.
func (c Composition) modules() []workerd.Module {
	var main, others []workerd.Module
	for _, m := range c.Manifest.Modules {
		mod := workerd.Module{Name: m.Name, Type: moduleType(m.Type)}
		if m.Name == c.Manifest.Main && c.Main != "" {
			mod.Source = c.Main
		} else {
			mod.Path = filepath.Join(c.BundleDir, filepath.FromSlash(bundle.ModulePath(m.Name)))
		}
		if m.Name == c.Manifest.Main {
			main = append(main, mod)
		} else {
			others = append(others, mod)
		}
	}
	return append(main, others...)
}

func moduleType(t bundle.ModuleType) workerd.ModuleType {
	switch t {
	case bundle.ESModule:
		return workerd.ESModule
	case bundle.CommonJS, bundle.Script:
		return workerd.CommonJS
	case bundle.Text:
		return workerd.Text
	case bundle.Data:
		return workerd.Data
	case bundle.Wasm:
		return workerd.Wasm
	case bundle.JSON:
		return workerd.JSON
	}
	return workerd.ModuleType(t) // Render refuses it
}

package workerhost

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/site"
)

const (
	siteRoute    = "assets"     // the value of binding.RouteHeader of requests through the binding
	siteService  = "svc:assets" // the service of the binding in workerd's config
	filesRoute   = "files"      // those of entry.Files
	filesService = entry.Files
)

// The worker of a version that has assets alone. The gateway answers its visitors; the
// worker gives the same answers to whatever reaches workerd.
const (
	siteModule  = "svc-assets.js"
	siteBinding = "ASSETS"
	siteWorker  = `export default { fetch: (request, env) => env.` + siteBinding + `.fetch(request) };`
)

// openSite opens the assets of the manifest, and adds a worker to assets alone.
func (v *version) openSite() error {
	m := &v.manifest
	v.site.Store(site.New(m, v.spec.Local.BundleDir))
	if dir := v.spec.Local.FilesDir; dir != "" {
		if err := v.showFiles(dir); err != nil {
			return err
		}
	}
	if m.Assets == nil || m.Main != "" {
		return nil
	}
	v.generated = siteWorker
	bound := *m.Assets
	bound.Binding = siteBinding
	m.Assets, m.Main, m.Modules = &bound, siteModule, []bundle.Module{{Name: siteModule, Type: bundle.ESModule}}
	return nil
}

// showFiles makes the static files of an unpacked bundle those that the worker reads.
func (v *version) showFiles(dir string) error {
	m, err := bundle.Load(dir)
	if err != nil {
		return err
	}
	v.site.Store(site.New(&m, dir))
	return nil
}

// ShowFiles implements control.Handler. Requests under way read the files of before.
func (h *Host) ShowFiles(_ context.Context, dir string) error {
	v := h.open.Load()
	if v == nil {
		return errNotOpen()
	}
	return v.showFiles(dir)
}

// hidesEnv is the compatibility flag with which the entry module cannot take its binding.
const hidesEnv = "disallow_importable_env"

// hasFiles reports whether calls by a service binding ask the static files before the worker. Assets
// alone have a worker that asks them.
func (c Composition) hasFiles() bool {
	return c.Manifest.Assets != nil && c.Manifest.Main != siteModule && !slices.Contains(c.Manifest.CompatibilityFlags, hidesEnv)
}

// withSite are the wirings, and those of the assets. address is that of the socket that serves the
// bindings.
func (c Composition) withSite(address string) []binding.Wiring {
	list := slices.Clip(c.Wirings)
	if c.Manifest.Assets != nil && c.Manifest.Assets.Binding != "" {
		list = append(list, siteWiring(c.Manifest.Assets.Binding, siteService, siteRoute, address))
	}
	if c.hasFiles() {
		list = append(list, siteWiring(entry.Files, filesService, filesRoute, address))
	}
	return list
}

func siteWiring(name, service, route, address string) binding.Wiring {
	return binding.Wiring{
		Binding: workerd.Binding{Name: name, Service: &workerd.ServiceRef{Name: service}},
		Services: []workerd.Service{{Name: service, External: &workerd.External{
			Address:              address,
			InjectRequestHeaders: []workerd.Header{{Name: binding.RouteHeader, Value: route}},
		}}},
	}
}

// besideSite serves the requests of the bindings of the assets, and next all others.
func besideSite(at *atomic.Pointer[site.Site], next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, route := at.Load(), r.Header.Get(binding.RouteHeader)
		switch {
		case s != nil && route == siteRoute:
			s.ServeHTTP(w, r)
		case s != nil && route == filesRoute:
			s.ServeVisitor(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

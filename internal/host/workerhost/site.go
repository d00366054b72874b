package workerhost

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/assets"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

const (
	siteRoute   = "assets"     // the value of binding.RouteHeader of requests through the binding
	siteService = "svc:assets" // the service of the binding in workerd's config
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
	v.site.Store(assets.New(m, v.spec.Local.BundleDir))
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
	v.site.Store(assets.New(&m, dir))
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

// withSite are the wirings, and that of the assets if the worker reads them. address is that
// of the socket that serves the bindings.
func (c Composition) withSite(address string) []binding.Wiring {
	if c.Manifest.Assets == nil || c.Manifest.Assets.Binding == "" {
		return c.Wirings
	}
	return append(slices.Clone(c.Wirings), binding.Wiring{
		Binding: workerd.Binding{Name: c.Manifest.Assets.Binding, Service: &workerd.ServiceRef{Name: siteService}},
		Services: []workerd.Service{{Name: siteService, External: &workerd.External{
			Address:              address,
			InjectRequestHeaders: []workerd.Header{{Name: binding.RouteHeader, Value: siteRoute}},
		}}},
	})
}

// besideSite serves the requests of the binding of the assets, and next all others.
func besideSite(site *atomic.Pointer[assets.Site], next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := site.Load(); s != nil && r.Header.Get(binding.RouteHeader) == siteRoute {
			s.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

package workerhost

import (
	"net/http"
	"slices"

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
func (v *version) openSite() {
	m := &v.manifest
	v.site = assets.New(m, v.spec.Local.BundleDir)
	if v.site == nil || m.Main != "" {
		return
	}
	v.generated = siteWorker
	bound := *m.Assets
	bound.Binding = siteBinding
	m.Assets, m.Main, m.Modules = &bound, siteModule, []bundle.Module{{Name: siteModule, Type: bundle.ESModule}}
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

// besideSite serves the requests of the binding of the assets, and next all others. s may
// be nil.
func besideSite(s *assets.Site, next http.Handler) http.Handler {
	if s == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(binding.RouteHeader) == siteRoute {
			s.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

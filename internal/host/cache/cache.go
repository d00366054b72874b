package cache

import (
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// ServiceName is the name of the cache among workerd's services.
const ServiceName = "cache"

// The headers on the way from workerd, beside binding.RouteHeader.
const (
	protoHeader     = "X-Svc-Proto"        // scheme of the cached URL
	cfHeader        = "X-Svc-Cf"           // options of the request, as JSON
	namespaceHeader = "Cf-Cache-Namespace" // name of the cache; absent for caches.default
	statusHeader    = "Cf-Cache-Status"    // HIT or MISS, which workerd reads
)

// methodPurge is the method of a delete.
const methodPurge = "PURGE"

// Config says where a Cache keeps responses, and how many.
type Config struct {
	Dir    string           // created when the first response is stored
	Bytes  int64            // limit on disk, whole blocks counted; 0 stores nothing
	Now    func() time.Time // nil is time.Now
	Logger *slog.Logger
}

// Cache answers the Cache API's requests of one version.
type Cache struct {
	store *store
	now   func() time.Time
	log   *slog.Logger
}

// New reads nothing yet: the first request finds what an earlier process left.
func New(c Config) *Cache {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Cache{store: newStore(c.Dir, c.Bytes), now: c.Now, log: c.Logger}
}

// Service is the workerd service that reaches the Cache behind address
// ("unix:/path"), where Beside listens.
func Service(address string) workerd.Service {
	return workerd.Service{Name: ServiceName, External: &workerd.External{
		Address: address, ForwardedProtoHeader: protoHeader, CFBlobHeader: cfHeader,
		InjectRequestHeaders: []workerd.Header{{Name: binding.RouteHeader, Value: ServiceName}},
	}}
}

// Beside is a handler that answers the Cache's requests, and passes all others to next.
func (c *Cache) Beside(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(binding.RouteHeader) == ServiceName {
			c.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ServeHTTP implements http.Handler.
func (c *Cache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		c.match(w, r)
	case http.MethodPut:
		c.put(w, r)
	case methodPurge:
		c.purge(w, r)
	default:
		_, _ = io.Copy(io.Discard, r.Body) // workerd loses the connection otherwise
		binding.Fail(w, http.StatusMethodNotAllowed, "the cache has no method "+r.Method)
	}
}

// purge deletes every stored response of a key.
func (c *Cache) purge(w http.ResponseWriter, r *http.Request) {
	status := http.StatusNotFound
	if c.store.delete(keyOf(r), c.now()) {
		status = http.StatusOK
	}
	w.Header()["Content-Length"] = []string{"0"}
	w.WriteHeader(status)
}

package binding

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// Kind is one type of resource.
type Kind interface {
	// Name is the kind's name in a manifest: "kv", "database" [D32].
	Name() string
	// Check refuses a declaration that could not be opened or wired.
	Check(d bundle.Binding) error
	// Open makes the data of d's resource ready. Declarations that name the
	// same resource share one Instance. A kind without data returns nil, nil.
	Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (Instance, error)
	// Wire is the part of workerd's config for d.
	Wire(d bundle.Binding, s Site) Wiring
}

// NoData is embedded by a Kind without data.
type NoData struct{}

// Open has nothing to open.
func (NoData) Open(context.Context, bundle.Binding, volume.Volumes) (Instance, error) {
	return nil, nil // the contract of a kind without data
}

// CheckResource refuses a declaration without a resource, which says what it does for the
// binding ("which names the namespace"), and one with a config, which whose kind of binding
// does not have ("a key-value namespace").
func CheckResource(d bundle.Binding, says, whose string) error {
	switch {
	case d.Resource == "":
		return fmt.Errorf("the resource, which %s, is missing", says)
	case len(d.Config) > 0:
		return fmt.Errorf("%s has no config", whose)
	}
	return nil
}

// Declarer is a Kind whose resources a manifest declares outside of its bindings too,
// such as the consumers of queues.
type Declarer interface {
	// Declare gives these declarations of m. They are opened like bindings and have no
	// place in the worker's env; the API lists those that have a name.
	Declare(m *bundle.Manifest) []bundle.Binding
}

// Warner is a Kind about whose bindings a version warns.
type Warner interface {
	// Warning returns the text for the version's warnings; "" for none.
	Warning(d bundle.Binding) string
}

// Instance serves the requests that workerd sends for one resource. It must
// read a request's body to the end before it answers.
type Instance interface {
	http.Handler
	Close() error
}

// Migrator is an Instance that takes SQL migrations in the step `preparing`.
// Migrate is idempotent and reports what it applied; files holds m's files at
// migrations/<binding>/<name>.
type Migrator interface {
	Migrate(ctx context.Context, m bundle.Migrations, files fs.FS) (applied []string, err error)
}

// Site is where a binding is wired in.
type Site struct {
	Ref       svc.Ref
	CreatedAt time.Time         // of the version
	Tag       string            // the version's label: its git ref or ""
	Address   string            // "unix:/path" of the socket that serves Instances
	Worker    string            // workerd's service that is the worker
	Env       map[string]string // variables of the version over those of the bundle; secrets
	RunDir    string            // of the runtime's sockets
	Traced    bool              // calls of the binding are spans of traces

	// ObjectKeys are the keys of classes of other workers, as svc.RuntimeSpec has them.
	ObjectKeys map[string]string
}

// RouteHeader tells Instances apart on that socket: its value is
// "<kind>/<resource>". workerd sets it and removes any that a worker sent.
const RouteHeader = "X-Svc-Binding"

// Service is the workerd service that reaches the Instance of d.
func (s Site) Service(name string, d bundle.Binding) workerd.Service {
	return workerd.Service{Name: name, External: &workerd.External{
		Address:              s.Address,
		InjectRequestHeaders: []workerd.Header{{Name: RouteHeader, Value: Route(d)}},
	}}
}

// Route names the Instance of d: its kind and resource.
func Route(d bundle.Binding) string { return d.Kind + "/" + d.Resource }

// Wiring is what one binding adds to a version's workerd config.
type Wiring struct {
	Binding  workerd.Binding
	Services []workerd.Service // services of equal name are added once
	Modules  []workerd.Module  // extensions, for wrapped bindings; those of equal name are added once
	Events   []workerd.Binding // what the door's shim calls for events of the kind; those of equal name are added once
}

// Events are the Events of wirings.
func Events(wirings []Wiring) (events []workerd.Binding) {
	seen := map[string]bool{}
	for _, w := range wirings {
		for _, e := range w.Events {
			if !seen[e.Name] {
				events = append(events, e)
			}
			seen[e.Name] = true
		}
	}
	return events
}

// AddTo adds the services and extensions of wirings to c, and returns their bindings.
func AddTo(c *workerd.Config, wirings []Wiring) (bindings []workerd.Binding) {
	services, modules := map[string]bool{}, map[string]bool{}
	for _, w := range wirings {
		bindings = append(bindings, w.Binding)
		for _, s := range w.Services {
			if !services[s.Name] {
				c.Services = append(c.Services, s)
			}
			services[s.Name] = true
		}
		for _, m := range w.Modules {
			if !modules[m.Name] {
				c.Extensions = append(c.Extensions, m)
			}
			modules[m.Name] = true
		}
	}
	return bindings
}

package durableobject

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/durable"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// Kind is the kind "durable_object". Its zero value is ready.
type Kind struct {
	Namespace svc.ObjectNamespace // of the version's objects
}

var _ binding.Kind = Kind{}

// Config is the config of a binding.
type Config struct {
	ClassName string `json:"class_name"` // one of the manifest's object_classes
}

// Name is "durable_object".
func (Kind) Name() string { return kinds.DurableObject }

// Check rejects a declaration without a class or without its key.
func (Kind) Check(d bundle.Binding) error {
	_, err := class(d)
	if err == nil && d.Resource == "" {
		err = errors.New("the resource, which is the key of the class, is missing")
	}
	return err
}

func class(d bundle.Binding) (string, error) {
	var c Config
	if err := json.Unmarshal(d.Config, &c); len(d.Config) == 0 || err != nil || c.ClassName == "" {
		return "", errors.New(`the config has no "class_name"`)
	}
	return c.ClassName, nil
}

// Open opens the data of the class.
func (k Kind) Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	db, err := durable.Open(ctx, v)
	if err != nil {
		return nil, fmt.Errorf("opening the storage of objects: %w", err)
	}
	return &namespace{db, k.Namespace.Key(d.Resource)}, nil
}

var (
	//go:embed client.js
	client string
	//go:embed turns.js
	turns string
	//go:embed lines.js
	lines string
)

const (
	clientModule = "svc-internal:durable_object" // not that of binding.Site.Client, which wires a service too
	turnsModule  = "svc-internal:object-turns"
	linesModule  = "svc-internal:object-lines"
)

// Wire names the class.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	name, _ := class(d) // checked
	return Namespace(d.Name, name, s)
}

// Namespace wires a binding to the objects of a class that the worker itself exports. Calls of objects that
// are not open wait for their turn. In traces, requests to objects are spans.
func Namespace(binds, name string, s binding.Site) binding.Wiring {
	inner := []workerd.Binding{{Name: "objects", ObjectClass: name}}
	if s.Traced {
		resource := kinds.DurableObject + "/" + name
		inner = append(inner, workerd.Binding{Name: "resource", Text: &resource})
	}
	return binding.Wiring{
		Binding: workerd.Binding{Name: binds, Wrapped: &workerd.Wrapped{Module: clientModule, Inner: inner}},
		Modules: Modules(),
	}
}

// GivesTurns reports whether a wiring is one of Namespace: with one, the calls of all objects of the
// worker take turns, also those by ctx.exports.
func GivesTurns(w binding.Wiring) bool {
	return w.Binding.Wrapped != nil && w.Binding.Wrapped.Module == clientModule
}

// Modules are the extensions that give turns. Bindings to objects of other workers use them, too.
func Modules() []workerd.Module {
	return []workerd.Module{
		binding.OrderModule(),
		{Name: linesModule, Type: workerd.ESModule, Source: lines},
		{Name: turnsModule, Type: workerd.ESModule, Source: turns},
		{Name: clientModule, Type: workerd.ESModule, Source: client},
	}
}

// namespace is the data of one class.
type namespace struct {
	db  volume.Database
	key string
}

var _ interface {
	binding.Measured
	binding.Stored
} = (*namespace)(nil)

// Stats counts the objects and the bytes of their storage, as of the last capture.
func (n *namespace) Stats(ctx context.Context) (map[string]int64, error) {
	objects, size, err := durable.Stats(ctx, n.db, n.key)
	return map[string]int64{"objects": objects, "size_bytes": size}, err
}

// History is the position of the storage of all objects.
func (n *namespace) History() volume.History { return n.db.History() }

// ServeHTTP refuses: workerd asks nothing about its own objects.
func (n *namespace) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	http.Error(w, "no such operation", http.StatusNotFound)
}

// Close leaves the database to its owner.
func (n *namespace) Close() error { return nil }

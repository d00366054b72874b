package services

import (
	"bytes"
	"cmp"
	"errors"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/durableobject"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// Worker is the name of workerd's service that is the worker of a version, in every version.
const Worker = "worker"

// Kind is the kind "service". Its zero value is ready. The resource of a declaration is the
// worker itself, or another project.
type Kind struct{ binding.NoData }

var _ binding.Kind = Kind{}

// Name is "service".
func (Kind) Name() string { return kinds.Service }

// Check rejects a declaration without a worker to call, and props that are no object.
func (Kind) Check(d bundle.Binding) error {
	c, err := bundle.ConfigOf[kinds.ServiceConfig](d)
	switch {
	case err != nil:
		return err
	case d.Resource == "":
		return errors.New("the resource, which is the name of the worker to call, is missing")
	case len(c.Props) > 0 && !bytes.HasPrefix(c.Props, []byte("{")):
		return errors.New("the props must be an object")
	case c.ObjectClass != "" && (c.Entrypoint != "" || len(c.Props) > 0):
		return errors.New("a binding to objects has neither entrypoint nor props")
	case c.Self && c.Version != "":
		return errors.New("a binding to the worker itself has no version")
	}
	return nil
}

// Wire names the entrypoint or the class of the worker itself, or makes a relay.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	c, _ := bundle.ConfigOf[kinds.ServiceConfig](d) // checked
	switch t := targetOf(d, c, s.Ref); {
	case t.Project != "" && c.ObjectClass != "":
		return relayedObjects(d.Name, c, t, s)
	case t.Project != "":
		return relayed(d.Name, c, t, s)
	case c.ObjectClass != "":
		return durableobject.Namespace(d.Name, c.ObjectClass, s)
	}
	return binding.Wiring{Binding: workerd.Binding{Name: d.Name, Service: &workerd.ServiceRef{
		Name: s.Worker, Entrypoint: c.Entrypoint, Props: propsOfSelf(c),
	}}}
}

// propsOfSelf are the props of a binding to the worker itself. Those to its default export say that a
// call is one of a binding, as a relay does: the static files come first then.
func propsOfSelf(c kinds.ServiceConfig) string {
	props := string(c.Props)
	if c.Entrypoint != "" {
		return props
	}
	rest, _ := strings.CutPrefix(strings.TrimSpace(cmp.Or(props, "{}")), "{")
	if rest = strings.TrimSpace(rest); rest != "}" {
		rest = "," + rest
	}
	return `{"svc:call":{}` + rest
}

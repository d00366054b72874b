package ratelimit

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// Kind is the kind "rate_limit". Its zero value is ready. The resource of a declaration is
// the namespace.
type Kind struct{}

var _ binding.Kind = Kind{}

// Name is "rate_limit".
func (Kind) Name() string { return kinds.RateLimit }

// Check rejects a declaration without a namespace or with other limits than Workers have.
func (Kind) Check(d bundle.Binding) error {
	c, err := bundle.ConfigOf[kinds.RateLimitConfig](d)
	switch {
	case err != nil:
		return err
	case d.Resource == "":
		return errors.New("the resource, which is the namespace, is missing")
	case c.Limit < 1:
		return fmt.Errorf("limit is %d and must be at least 1", c.Limit)
	case c.Period != 10 && c.Period != 60:
		return fmt.Errorf("period is %d and must be 10 or 60 seconds", c.Period)
	}
	return nil
}

// Open opens no data.
func (Kind) Open(context.Context, bundle.Binding, volume.Volumes) (binding.Instance, error) {
	return &counter{now: time.Now, counts: map[window]int{}}, nil
}

//go:embed client.js
var client string

// Wire is a module that asks the worker host, with the limits of the binding.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	c, _ := bundle.ConfigOf[kinds.RateLimitConfig](d) // Check has read it
	limits := strconv.Itoa(c.Limit) + "/" + strconv.Itoa(c.Period)
	service := "rate_limit:" + d.Resource
	w := s.Client(d, service, client, workerd.Binding{Name: "service", Service: &workerd.ServiceRef{Name: service}})
	w.Binding.Wrapped.Inner = append(w.Binding.Wrapped.Inner, workerd.Binding{Name: "limits", Text: &limits})
	return w
}

package promote_test

import (
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestHoldFirst: requests to the production host name wait until the first ready
// version is assigned.
// spec: [C3.5]
func TestHoldFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	v1 := w.add(t, "v1", svc.TriggerFetch, svc.TriggerBranch, svc.TriggerPrepare, svc.TriggerDeploy)
	release := d.HoldFirst(t.Context(), "shop")
	if _, err := w.Move(t.Context(), v1, svc.TriggerActivate, svc.Change{FirstProduction: true}); err != nil {
		t.Fatal(err)
	}
	answered := make(chan string)
	go func() { answered <- d.gateway.request("shop") }()
	if err := d.AssignFirst(t.Context(), v1); err != nil {
		t.Fatal(err)
	}
	release()
	if got := <-answered; got != "v1" {
		t.Errorf("%q answered", got)
	}
	d.HoldFirst(t.Context(), "shop")() // there is a production: nothing is held
	if want := []string{"hold", "production v1", "release"}; !slices.Equal(d.gateway.log(), want) {
		t.Errorf("the calls of the gateway are %v, want %v", d.gateway.log(), want)
	}
}

// TestHoldFirstSlowBucket: requests do not wait for the pointer object.
func TestHoldFirstSlowBucket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v1 := w.add(t, "v1", svc.TriggerFetch, svc.TriggerBranch, svc.TriggerPrepare, svc.TriggerDeploy)
	putting, proceed := make(chan struct{}), make(chan struct{})
	f := &faults{world: w, fail: func(call string) error {
		if call == "put" {
			close(putting)
			<-proceed
		}
		return nil
	}}
	d := w.start(t, f.use)
	defer d.HoldFirst(t.Context(), "shop")()
	if _, err := w.Move(t.Context(), v1, svc.TriggerActivate, svc.Change{FirstProduction: true}); err != nil {
		t.Fatal(err)
	}
	assigned := make(chan error)
	go func() { assigned <- d.AssignFirst(t.Context(), v1) }()
	<-putting
	if got := d.gateway.request("shop"); got != "v1" {
		t.Errorf("%q answered", got)
	}
	close(proceed)
	if err := <-assigned; err != nil {
		t.Error(err)
	}
}

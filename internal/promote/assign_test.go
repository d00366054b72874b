package promote_test

import (
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// Whoever sees the first version of a project ready, and asks the production
// host, is answered by it: before it leads there, requests wait.
func TestFirstIsHeldUntilAssigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	v1 := w.add(t, "v1", svc.TriggerFetch, svc.TriggerBranch, svc.TriggerPrepare, svc.TriggerDeploy)
	release := d.HoldFirst(t.Context(), "shop")
	if _, err := w.Move(t.Context(), v1, svc.TriggerActivate, svc.Change{FirstProduction: true}); err != nil {
		t.Fatal(err)
	}
	answered := make(chan string)
	go func() { answered <- d.gate.request("shop") }()
	if err := d.AssignFirst(t.Context(), v1); err != nil {
		t.Fatal(err)
	}
	release()
	if got := <-answered; got != "v1" {
		t.Errorf("%q answered", got)
	}
	d.HoldFirst(t.Context(), "shop")() // there is a production: it goes on serving
	if want := []string{"hold", "production v1", "release"}; !slices.Equal(d.gate.log(), want) {
		t.Errorf("the gateway was told %v, not %v", d.gate.log(), want)
	}
}

// The pointer object is for others than the gateway: requests do not wait for it.
func TestFirstIsNotHeldByTheBucket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v1 := w.add(t, "v1", svc.TriggerFetch, svc.TriggerBranch, svc.TriggerPrepare, svc.TriggerDeploy)
	putting, goOn := make(chan struct{}), make(chan struct{})
	f := &faults{world: w, fail: func(call string) error {
		if call == "put" {
			close(putting)
			<-goOn
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
	if got := d.gate.request("shop"); got != "v1" {
		t.Errorf("%q answered", got)
	}
	close(goOn)
	if err := <-assigned; err != nil {
		t.Error(err)
	}
}

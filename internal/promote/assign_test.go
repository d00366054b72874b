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

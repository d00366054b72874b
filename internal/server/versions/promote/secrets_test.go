package promote_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestSecretsOfPromotion: the target gets its secrets before the drain, and the version that it replaces
// those of its class after the end; if the promotion fails, the target does.
func TestSecretsOfPromotion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	var asked []string
	var failure error
	var gateway *fakeGateway
	d := w.start(t, func(deps *promote.Deps) {
		deps.RefreshSecrets = func(_ context.Context, ref svc.Ref) error {
			gateway.mu.Lock()
			held := gateway.held["shop"] != nil
			gateway.mu.Unlock()
			if held {
				t.Error("requests wait for a restart with other secrets")
			}
			asked = append(asked, ref.Version+" of "+w.production(t))
			return failure
		}
	})
	gateway = d.gateway
	for _, step := range []struct {
		to      string
		failure error
		want    svc.PromotionStatus
	}{{"v1", nil, svc.PromotionDone}, {"v2", nil, svc.PromotionDone}, {"v1", errors.New("no start"), svc.PromotionFailed}} {
		failure = step.failure
		if op := d.promote(t, w, step.to); op.Status != step.want {
			t.Errorf("%s is %s: %s", step.to, op.Status, op.Error)
		}
		d.idle(t, w)
	}
	if want := []string{"v1 of ", "v2 of v1", "v1 of v2", "v1 of v2", "v1 of v2"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

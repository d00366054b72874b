package deploy_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/deploy"
	"github.com/svcctl/svcctl/internal/svc"
)

// A version is refused when nobody could ever reach its preview host [D3].
func TestSubmitRefusesHostsThatAreNoNames(t *testing.T) {
	t.Parallel()
	in, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "ingress.local", Template: "{scheme}://{version}--{project}.{baseDomain}"})
	if err != nil {
		t.Fatal(err)
	}
	d := newWorld(t).start(t, func(deps *deploy.Deps) { deps.Ingress = in })
	_, err = d.Submit(t.Context(), svc.NewVersion{Project: "shop", ID: strings.Repeat("v", 60)}, deploy.SubmitOptions{})
	if e := svc.AsError(err); e == nil || e.Code != "host_too_long" || len(e.Fields) != 1 || e.Fields[0].Pointer != "/id" {
		t.Errorf("an id too long for its host: %v", err)
	}
	for _, id := range []string{"", strings.Repeat("v", 57)} {
		if _, err := d.Submit(t.Context(), svc.NewVersion{Project: "shop", ID: id}, deploy.SubmitOptions{}); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
}

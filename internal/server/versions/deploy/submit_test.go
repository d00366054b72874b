package deploy_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestSubmitChecksHostName: a version whose preview host name is not a valid DNS name
// is rejected [D3].
func TestSubmitChecksHostName(t *testing.T) {
	t.Parallel()
	in, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "ingress.local", Template: "{scheme}://{version}--{project}.{baseDomain}"})
	if err != nil {
		t.Fatal(err)
	}
	d := newWorld(t).start(t, func(deps *deploy.Deps) { deps.Ingress = in })
	_, err = d.Submit(t.Context(), svc.NewVersion{Project: "shop", ID: strings.Repeat("v", 60)}, svc.SubmitOptions{})
	if e := svc.AsError(err); e == nil || e.Code != "host_too_long" || len(e.Fields) != 1 || e.Fields[0].Pointer != "/id" {
		t.Errorf("an id too long for its host name: %v", err)
	}
	for _, id := range []string{"", strings.Repeat("v", 57)} {
		if _, err := d.Submit(t.Context(), svc.NewVersion{Project: "shop", ID: id}, svc.SubmitOptions{}); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
}

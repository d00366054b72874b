package obs_test

import (
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/obs"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	all := obs.Describe()
	if len(all) < 20 {
		t.Errorf("%d metrics", len(all))
	}
	at := slices.IndexFunc(all, func(d obs.Description) bool { return d.Name == "svc_gateway_requests_total" })
	if at < 0 || all[at].Help == "" || !slices.Equal(all[at].Labels, []string{"role", "code"}) {
		t.Errorf("svc_gateway_requests_total is missing or incomplete: %+v", all)
	}
}

package workerhost

import (
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
)

// A project may lower the server's limit of subrequests, and never raise it.
func TestSubrequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ server, project, want int }{
		{1000, 0, 1000}, {1000, 50, 50}, {1000, 5000, 1000}, {0, 0, 0}, {0, 50, 50},
	} {
		v := &version{manifest: bundle.Manifest{Limits: &bundle.RuntimeLimits{Subrequests: c.project}}}
		v.spec.Host.Subrequests = c.server
		if got := v.subrequests(); got != c.want {
			t.Errorf("the server allows %d, the project sets %d: got %d, want %d", c.server, c.project, got, c.want)
		}
	}
}

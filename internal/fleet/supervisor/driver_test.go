package supervisor_test

import (
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/fleet/supervisor/supervisortest"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestLocalDriver: worker hosts of this machine conform.
func TestLocalDriver(t *testing.T) {
	t.Parallel()
	supervisortest.Run(t, func(t *testing.T) supervisortest.Place {
		t.Helper()
		cfg := config(workerdtest.Binary(t), svctest.ShortDir(t))
		if _, _, err := cfg.build(); err != nil {
			t.Fatal(err)
		}
		return supervisortest.Place{Config: cfg.Config, Kill: func(t *testing.T, e svc.Endpoint) {
			t.Helper()
			if err := syscall.Kill(e.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}}
	})
}

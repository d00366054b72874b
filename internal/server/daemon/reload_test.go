package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
)

// TestNeedRestart: a changed config file names the settings that a reload does not apply.
func TestNeedRestart(t *testing.T) {
	t.Parallel()
	read := func(text string) *config.Daemon {
		t.Helper()
		path := filepath.Join(t.TempDir(), "svcd.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.LoadDaemon(config.Source{Environ: []string{"HOME=/home/svcd"}, File: path})
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	before := read("svc_log_level: info\n")
	if got := needRestart(before, read("svc_log_level: debug\nsvc_trusted_proxies: 10.0.0.0/8\n")); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
	if got := needRestart(before, read("gateway_port: 9000\nsvc_lease_ttl: 20s\n")); !slices.Equal(got, []string{"GATEWAY_PORT", "SVC_LEASE_TTL"}) {
		t.Errorf("got %v", got)
	}
}

package daemon

import (
	"log/slog"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestCheckRoot(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cfg      config.Daemon
		uid      int
		confines bool
		refused  bool
	}{
		"a user":                       {config.Daemon{ListenHost: "0.0.0.0"}, 1000, false, false},
		"root on loopback":             {config.Daemon{ListenHost: "127.0.0.1"}, 0, false, false},
		"root with Landlock":           {config.Daemon{ListenHost: "0.0.0.0"}, 0, true, false},
		"root without Landlock":        {config.Daemon{ListenHost: "0.0.0.0"}, 0, false, true},
		"root that isolates":           {config.Daemon{ListenHost: "0.0.0.0", Isolates: true}, 0, false, false},
		"root that the operator wants": {config.Daemon{ListenHost: "0.0.0.0", AllowRoot: true}, 0, false, false},
	} {
		err := checkRoot(t.Context(), &tc.cfg, tc.uid, tc.confines, slog.New(slog.DiscardHandler))
		if refused := svc.CodeOf(err) == svc.CodeRootRefused; refused != tc.refused || (err != nil) != tc.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package daemon

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/supervisor"
	"github.com/svcctl/svcctl/internal/svc"
)

// What a runtime may be behind by is well, whatever the window; more is not.
func TestLagging(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		durability      string
		window          time.Duration
		allowed, behind time.Duration // by the runtimes; and what is too much
	}{
		{"async", 10 * time.Millisecond, 1020 * time.Millisecond, 12 * time.Second},
		{"async", time.Second, 3 * time.Second, 14 * time.Second},
		{"async", 30 * time.Second, 61 * time.Second, 72 * time.Second},
		{"async", time.Minute, 121 * time.Second, 132 * time.Second},
		{"sync", time.Minute, 5 * time.Second, 16 * time.Second},
	} {
		limit := lagLimit(&config.Daemon{Durability: tc.durability, SyncWindow: tc.window})
		r := supervisor.Runtime{Ref: svc.Ref{Project: "shop", Version: "v1"}, State: supervisor.StateServing}
		for behind, want := range map[time.Duration]string{0: "", tc.allowed + 5*time.Second: "", tc.behind: "data_behind"} {
			r.Behind = behind
			if err := lagging([]supervisor.Runtime{r}, limit); svc.CodeOf(err) != want {
				t.Errorf("%s, %s: %s behind: %v", tc.durability, tc.window, behind, err)
			}
		}
		r.State = supervisor.StateBackoff // its number is an old one
		if err := lagging([]supervisor.Runtime{r}, limit); err != nil {
			t.Errorf("one that does not run: %v", err)
		}
	}
}

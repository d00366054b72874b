package daemon

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/config"
)

func TestClientLimits(t *testing.T) {
	t.Parallel()
	set := config.Clients{Total: 16384, PerClient: 1024, PerVersion: 4096, API: 1024}
	for files, want := range map[int]config.Clients{
		1 << 20: set,
		20000:   {Total: 8976, PerClient: 1024, PerVersion: 4096, API: 1024},
		4096:    {Total: 1408, PerClient: 1024, PerVersion: 1056, API: 256},
		1024:    {Total: 256, PerClient: 1024, PerVersion: 192, API: 64},
		100:     {Total: 64, PerClient: 1024, PerVersion: 48, API: 64},
	} {
		if diff := cmp.Diff(want, clientLimits(set, files)); diff != "" {
			t.Errorf("%d files (-want, +got):\n%s", files, diff)
		}
	}
}

// TestWarnFileLimit: a low hard limit of open files is logged, with what to change.
func TestWarnFileLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]string{1024: "LimitNOFILE", lowFileLimit - 1: "LimitNOFILE", lowFileLimit: "", 1 << 20: ""} {
		var text strings.Builder
		warnFileLimit(t.Context(), limit, slog.New(slog.NewTextHandler(&text, nil)))
		if got := text.String(); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
}

package cli

import (
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
)

// TestHistoryText: what projects get says of the past.
func TestHistoryText(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]api.ProjectHistory{
		"all points for 1h, those of each minute for 1d, those of each hour for 7d; deleted data stays 7d, and the grace of garbage collection": {Seconds: 3600, Minutes: 86400, Hours: 7 * 86400},
		"those of each minute for 90m, at most 5.0 GiB a version; deleted data stays 90m, and the grace of garbage collection":                  {Minutes: 5400, MaxBytes: 5 << 30},
	} {
		if got := historyText(h); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

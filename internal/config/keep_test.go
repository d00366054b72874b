package config_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestKeep: an age, a number, both, and what is refused.
func TestKeep(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]svc.Keep{
		"off": {}, "7d": {Age: 168 * time.Hour}, "20": {Count: 20}, "7d,20": {Age: 168 * time.Hour, Count: 20}, "20, 12h": {Age: 12 * time.Hour, Count: 20},
	} {
		d, err := load(t, "SVC_KEEP_FAILED="+text, "SVC_KEEP_ARCHIVED="+text)
		if err != nil || d.KeepFailed != want || d.KeepArchived != want {
			t.Errorf("%q: %+v, %v", text, d, err)
		}
	}
	for _, text := range []string{"0", "-1", "7d,7d", "1,2", "7d,", "soon", "0s", "1,off"} {
		if _, err := load(t, "SVC_KEEP_FAILED="+text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

package text_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/text"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{
		"0": 0, "3d": 72 * time.Hour, "1d12h": 36 * time.Hour, "250ms": 250 * time.Millisecond,
	} {
		if got, err := text.Duration(in); err != nil || got != want {
			t.Errorf("%s = %v, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", "-1", "-3h", "d", "1w", "1d-2h", "soon", "90", "off", "1764000000", "70000d", "65535d2000000h"} {
		if d, err := text.Duration(bad); err == nil {
			t.Errorf("%q = %v", bad, d)
		}
	}
}

package text_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/lib/text"
)

// TestBytes: each unit begins where the one below it has 1,024.
func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 1<<10 - 1: "1023 B", 1 << 10: "1.0 KiB", 1 << 20: "1.0 MiB", 3 << 19: "1.5 MiB", 1 << 30: "1.0 GiB", 100 << 30: "100.0 GiB",
	} {
		if got := text.Bytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

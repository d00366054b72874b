//go:build !failpoint

package config_test

import (
	"strings"
	"testing"
)

// TestLeastGrace: what is released does not take the graces that tests use.
func TestLeastGrace(t *testing.T) {
	t.Parallel()
	if _, err := load(t, "SVC_GC_GRACE=59s"); err == nil || !strings.Contains(err.Error(), "want a duration from 1m0s to 720h0m0s") {
		t.Error(err)
	}
}

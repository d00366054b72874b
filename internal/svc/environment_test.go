package svc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestEntries: the platform wins over overrides, and overrides over the bundle.
// spec: [C5.1] [C5.2] [C5.4] [C5.5] [C5.6] [C5.7] [C5.8]
func TestEntries(t *testing.T) {
	t.Parallel()
	got := svc.Environment{
		Ref:       svc.Ref{Project: "shop", Version: "v1"},
		Bundle:    map[string]string{"A": "bundle", "B": "bundle", "PROJECT_ID": "bundle"},
		Overrides: map[string]string{"B": "override", "C": "override"},
	}.Entries()
	want := []svc.EnvEntry{
		{"A", "bundle", svc.EnvBundle, nil},
		{"B", "override", svc.EnvOverride, []svc.EnvSource{svc.EnvBundle}},
		{"C", "override", svc.EnvOverride, nil},
		{"PROJECT_ID", "shop", svc.EnvPlatform, []svc.EnvSource{svc.EnvBundle}},
		{"VERSION_ID", "v1", svc.EnvPlatform, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

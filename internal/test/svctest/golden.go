package svctest

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// UpdateGolden reports whether tests write their golden files anew instead of
// comparing with them: SVC_UPDATE_GOLDEN is set.
func UpdateGolden() bool { return os.Getenv("SVC_UPDATE_GOLDEN") != "" } //nolint:forbidigo // a switch of tests

// Golden compares got with a committed file, or writes the file ([UpdateGolden]).
func Golden(t testing.TB, file, got string) {
	t.Helper()
	if UpdateGolden() {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (SVC_UPDATE_GOLDEN=1 writes it anew), -want +got:\n%s", file, diff)
	}
}

package buildinfo

import (
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// TestNumber: the version of the source is the newest section of the changelog.
func TestNumber(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## \[(.+)\]`).FindSubmatch(text)
	if newest == nil || "v"+string(newest[1]) != number {
		t.Errorf("the newest section of CHANGELOG.md is %q, the source has the version %s", newest, number)
	}
}

// TestVersion: a build without the values of a release says the version of its source, and the commit.
func TestVersion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		linked, module, commit, changed, want string
	}{
		{"", "(devel)", "", "", number},
		{"", "", "", "", number},
		{"", "v0.0.0-20261129002841-5fd625f1a3aa", "5fd625f1a3aa0123456789", "false", number + "+5fd625f1a3aa"},
		{"", "v0.0.0-20261129002841-5fd625f1a3aa+dirty", "5fd625f1a3aa0123456789", "true", number + "+5fd625f1a3aa.dirty"},
		{"", "v0.3.1-0.20261129002841-5fd625f1a3aa", "5fd625f1a3aa0123456789", "", number + "+5fd625f1a3aa"},
		{"", "v0.3.0", "5fd625f1a3aa0123456789", "", "v0.3.0"},
		{"", "v0.3.0", "", "", "v0.3.0"},
		{"v1.2.3", "v0.0.0-20261129002841-5fd625f1a3aa", "5fd625f1a3aa0123456789", "true", "v1.2.3"},
	} {
		b := Build{Version: tc.linked}
		b.fill(&debug.BuildInfo{Main: debug.Module{Version: tc.module}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: tc.commit}, {Key: "vcs.modified", Value: tc.changed},
		}})
		if b.Version != tc.want || b.Commit != tc.commit {
			t.Errorf("%+v: %+v", tc, b)
		}
	}
	if b := Read(); !strings.HasPrefix(b.Version, number) || b.Go == "" || b.OS == "" || b.Arch == "" {
		t.Errorf("this build: %+v", b)
	}
}

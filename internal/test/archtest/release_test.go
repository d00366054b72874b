package archtest_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// release is what goreleaser.yaml says about the bytes of files.
type release struct {
	Builds []struct {
		ID        string
		Env       []string
		Flags     []string
		Timestamp string `yaml:"mod_timestamp"`
	}
	Archives []struct {
		Programs info `yaml:"builds_info"`
		Files    []struct {
			Src  string
			Info info
		}
	}
	Packages []struct {
		ID       string
		Mtime    string
		Contents []struct {
			Src, Type string
			Info      info `yaml:"file_info"`
		}
	} `yaml:"nfpms"`
}

type info struct {
	Owner, Group, Mtime string
	Mode                int
}

const (
	commitDate = "{{ .CommitDate }}"
	commitTime = "{{ .CommitTimestamp }}"
)

// TestReleaseDependsOnTheCommitOnly fails if a file of the release has the time or rights of
// the checkout, or a program its path or the time of the build. make test-release, which takes
// minutes, compares the bytes of two checkouts.
func TestReleaseDependsOnTheCommitOnly(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range regexp.MustCompile(`\{\{ *(\.Date|\.Timestamp|\.Now|\.Env|time|now)\b[^}]*\}\}`).FindAll(text, -1) {
		t.Errorf("%s differs between two builds of a commit", now)
	}
	var r release
	if err := yaml.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Builds) == 0 || len(r.Archives) == 0 || len(r.Packages) == 0 {
		t.Fatalf("%+v", r)
	}
	r.programs(t)
	r.archives(t)
	r.packages(t)
}

func (r *release) programs(t *testing.T) {
	for _, b := range r.Builds {
		// A server runs the svchost of its own build only, which -buildvcs tells: without it, worker hosts
		// need more memory. The environment of a builder may have switched it off.
		if !slices.Contains(b.Flags, "-trimpath") || !slices.Contains(b.Flags, "-buildvcs=true") || !slices.Contains(b.Env, "CGO_ENABLED=0") || b.Timestamp != commitTime {
			t.Errorf("program %s: want -trimpath, -buildvcs=true, CGO_ENABLED=0 and mod_timestamp %q: %+v", b.ID, commitTime, b)
		}
	}
}

func (r *release) archives(t *testing.T) {
	complete := func(i info) bool {
		return i.Owner == "root" && i.Group == "root" && i.Mode != 0 && i.Mtime == commitDate
	}
	for _, a := range r.Archives {
		if !complete(a.Programs) {
			t.Errorf("programs of archives: %+v", a.Programs)
		}
		for _, f := range a.Files {
			if !complete(f.Info) {
				t.Errorf("%s in archives: want owner, group, mode and mtime %q: %+v", f.Src, commitDate, f.Info)
			}
		}
	}
}

func (r *release) packages(t *testing.T) {
	for _, p := range r.Packages {
		if p.Mtime != commitDate {
			t.Errorf("package %s: mtime %q", p.ID, p.Mtime)
		}
		for _, c := range p.Contents {
			if c.Info.Mtime != commitDate || c.Info.Mode == 0 && c.Type != "tree" {
				t.Errorf("%s in package %s: want mode and mtime %q: %+v", c.Src, p.ID, commitDate, c.Info)
			}
		}
	}
}

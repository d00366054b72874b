package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// seated is a session of a machine whose bundles unpack makes.
func seated(t *testing.T, unpack func(dir string) error) *session {
	t.Helper()
	return &session{id: "s1", Agent: &Agent{machine: "m1", cfg: Config{
		Dir: t.TempDir(), Name: "first", Daemon: "10.1.2.3:8793",
		Unpack: func(_ context.Context, _ svc.Storage, _ svc.Ref, _, dir string) error { return unpack(dir) },
	}}}
}

func specOf(digest string) *svc.RuntimeSpec {
	return &svc.RuntimeSpec{Ref: svc.Ref{Project: "shop", Version: "v1"}, Digest: digest}
}

// TestPlace: a version gets directories and an owner of this machine, and its bundle is unpacked once.
func TestPlace(t *testing.T) {
	t.Parallel()
	unpacked := 0
	s := seated(t, func(dir string) error { unpacked++; return os.Mkdir(dir, 0o700) })
	marks := map[string]bool{}
	for range 2 {
		spec := specOf("sha256:aa")
		spec.Local.DataDir, spec.Local.Warm = "/of/the/daemon", "m1"+warmOf+"/parent"
		spec.Host.Storage.Endpoint = "http://0.0.0.0:9000"
		mark, err := s.place(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		marks[mark] = true
		if want := s.sub("versions", "shop", "v1"); spec.Local.DataDir != want || spec.Local.Warm != "/parent" {
			t.Errorf("%+v, want the directory %s", spec.Local, want)
		}
		if spec.Host.Storage.Endpoint != "http://10.1.2.3:9000" {
			t.Errorf("object store at %s", spec.Host.Storage.Endpoint)
		}
		for _, dir := range []string{spec.Local.DataDir, spec.Local.BundleDir} {
			if _, err := os.Stat(dir); err != nil {
				t.Error(err)
			}
		}
	}
	if unpacked != 1 || len(marks) != 1 {
		t.Errorf("unpacked %d times, %d marks", unpacked, len(marks))
	}
}

// TestPlaceFails: a bundle without a digest, or with one that would leave the directory, is not fetched; one that cannot
// be fetched leaves nothing, and an error of the object store keeps its code.
func TestPlaceFails(t *testing.T) {
	t.Parallel()
	fail := errors.New("no route")
	s := seated(t, func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), fail) })
	for _, digest := range []string{"", "sha256:", "sha256:../x", "a/b", "sha256:aa"} {
		if _, err := s.place(t.Context(), specOf(digest)); svc.CodeOf(err) != svc.CodeHostBundle {
			t.Errorf("%q: %v", digest, err)
		}
	}
	fail = svc.Errorf(svc.NotFound, svc.CodeArtifactMissing, "gone")
	if _, err := s.place(t.Context(), specOf("sha256:aa")); svc.CodeOf(err) != svc.CodeArtifactMissing {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(s.sub("bundles", "shop", "v1-aa")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a bundle that was not fetched is there: %v", err)
	}
}

func TestReachable(t *testing.T) {
	t.Parallel()
	for _, tc := range [][3]string{
		{"http://0.0.0.0:9000", "daemon:8793", "http://daemon:9000"},
		{"http://[::]:9000", "[fd00::1]:8793", "http://[fd00::1]:9000"},
		{"http://127.0.0.1:9000", "daemon:8793", "http://127.0.0.1:9000"},
		{"https://s3.example", "daemon:8793", "https://s3.example"},
		{"http://0.0.0.0:9000", "no port", "http://0.0.0.0:9000"},
		{"::", "daemon:8793", "::"},
	} {
		if got := reachable(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%s of %s: %s, want %s", tc[0], tc[1], got, tc[2])
		}
	}
}

// TestPrune: what was not used for a day goes, and of a pod all bundles.
func TestPrune(t *testing.T) {
	t.Parallel()
	for _, pod := range []bool{false, true} {
		a := &Agent{cfg: Config{Dir: t.TempDir()}}
		if pod {
			a.cfg.Machine = "pod-1"
		}
		for _, kind := range []string{"versions", "bundles"} {
			for _, name := range []string{"old", "new"} {
				dir := a.sub(kind, "shop", name)
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if then := time.Now().Add(-keepFor - time.Minute); name == "old" {
					if err := os.Chtimes(dir, then, then); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if err := a.prune(); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]bool{"versions/shop/old": false, "versions/shop/new": true, "bundles/shop/old": false, "bundles/shop/new": !pod} {
			if _, err := os.Stat(filepath.Join(a.cfg.Dir, path)); (err == nil) != want {
				t.Errorf("pod %v: %s is there: %v, want %v", pod, path, err == nil, want)
			}
		}
	}
}

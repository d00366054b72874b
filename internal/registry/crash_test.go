package registry_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/registry"
	"github.com/svcctl/svcctl/internal/svc"
)

// childEnv makes the test binary a daemon that writes until it is killed.
const childEnv = "REGISTRY_TEST_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		fmt.Println(write(context.Background(), path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// write opens the registry and, in four goroutines at once, creates versions
// and moves each one step. It prints the id of each version, once when it is
// accepted and once when it has moved, and returns only on an error.
func write(ctx context.Context, path string) error {
	db, err := registry.Open(ctx, path)
	if err != nil {
		return err
	}
	if _, _, err := db.CreateProject(ctx, svc.Project{ID: "shop"}); err != nil {
		return err
	}
	failed := make(chan error)
	for range 4 {
		go func() {
			for {
				v, _, err := db.CreateVersion(ctx, svc.NewVersion{Project: "shop", Env: map[string]string{"A": "1"}}, registry.CreateOptions{})
				if err == nil {
					fmt.Println("accepted", v.Version)
					_, err = db.Move(ctx, v.Ref, svc.TriggerFetch, svc.Change{})
				}
				if err != nil {
					failed <- err
					return
				}
				fmt.Println("fetching", v.Version)
			}
		}()
	}
	return <-failed
}

// TestKill kills such a daemon twice on one file and looks for everything it
// had acknowledged: no row is lost, none is half there.
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "registry.db")
	acked := map[string]svc.Status{}
	for range 2 {
		killAfter(t, path, 60, acked)
		db, err := registry.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		checkAcked(t, db, acked)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		var verdict string
		if err := raw(t, path).Read().QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
			t.Errorf("integrity: %s, %v", verdict, err)
		}
	}
}

// killAfter runs the daemon, kills it after so many acknowledgements and adds
// them, with those that were on their way, to acked.
func killAfter(t *testing.T, path string, lines int, acked map[string]svc.Status) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for n := 1; in.Scan(); n++ {
		what, id, _ := strings.Cut(in.Text(), " ")
		switch what {
		case "accepted":
			acked[id] = svc.StatusPending
		case "fetching":
			acked[id] = svc.StatusFetching
		default:
			t.Fatalf("the daemon said %q", in.Text())
		}
		if n == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
}

func checkAcked(t *testing.T, db *registry.DB, acked map[string]svc.Status) {
	t.Helper()
	all, err := db.VersionsByStatus(t.Context(), svc.Statuses()...)
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]svc.Version{}
	for _, v := range all {
		stored[v.Version] = v
		if steps := len(v.Timeline); v.Env["A"] != "1" || (v.Status == svc.StatusFetching) != (steps == 1) {
			t.Errorf("half a version: %+v", v)
		}
	}
	for id, status := range acked {
		// The move may have happened and its acknowledgement not.
		if got := stored[id].Status; got != status && got != svc.StatusFetching {
			t.Errorf("%s was acknowledged as %s and is %q", id, status, got)
		}
	}
	if depth, err := db.QueueDepth(t.Context()); err != nil || depth != len(all) {
		t.Errorf("%d versions have %d jobs, %v", len(all), depth, err)
	}
}

package registry_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"write": write, "change": change})
}

// write opens the registry and, in four goroutines, creates versions and moves each
// one step. It prints the id of each version after the create and after the move,
// and returns only on an error.
func write(ctx context.Context, args []string) error {
	db, err := registry.Open(ctx, args[0])
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
				v, _, err := db.CreateVersion(ctx, svc.NewVersion{Project: "shop", Env: map[string]string{"A": "1"}}, svc.CreateOptions{})
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

// TestKill kills such a process twice on one file and checks everything that it has
// acknowledged: no row is lost or incomplete.
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

// killAfter runs the process, kills it after the given number of acknowledgements
// and adds all acknowledgements to acked.
func killAfter(t *testing.T, path string, lines int, acked map[string]svc.Status) {
	t.Helper()
	p := svctest.Start(t, "write", path)
	if !p.AwaitLines(t, lines) {
		t.Fatal(p.Stderr())
	}
	p.Kill()
	for _, line := range p.Lines() {
		what, id, _ := strings.Cut(line, " ")
		switch what {
		case "accepted":
			acked[id] = svc.StatusPending
		case "fetching":
			acked[id] = svc.StatusFetching
		default:
			t.Fatalf("the process printed %q", line)
		}
	}
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
			t.Errorf("incomplete version: %+v", v)
		}
	}
	for id, status := range acked {
		// The move may be stored without its acknowledgement.
		if got := stored[id].Status; got != status && got != svc.StatusFetching {
			t.Errorf("%s was acknowledged as %s and is %q", id, status, got)
		}
	}
	if depth, err := db.QueueDepth(t.Context()); err != nil || depth != len(all) {
		t.Errorf("%d versions have %d jobs, %v", len(all), depth, err)
	}
}

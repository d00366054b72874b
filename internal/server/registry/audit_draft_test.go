package registry_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// statusOnly are the fields that the records of these tests compare.
func statusOnly(_ *svc.Project, v *svc.Version) map[string]any {
	if v == nil {
		return map[string]any{}
	}
	return map[string]any{"status": string(v.Status)}
}

// request returns a context with the draft of a request, and the draft.
func request(ctx context.Context, id string, ref svc.Ref, before map[string]any) (context.Context, svc.AuditRecord) {
	a := svc.AuditRecord{Action: "test", Project: ref.Project, Version: ref.Version, RequestID: id, Time: time.UnixMilli(1000), Before: before}
	return svc.WithAuditDraft(ctx, svc.NewAuditDraft(a, statusOnly)), a
}

// change opens the registry and makes requests until it is killed: each creates a version
// or moves one, and every third one ends with its record.
func change(ctx context.Context, args []string) error {
	db, err := registry.Open(ctx, args[0])
	if err != nil {
		return err
	}
	if _, _, err := db.CreateProject(ctx, svc.Project{ID: "shop"}); err != nil {
		return err
	}
	for n := 0; ; n++ {
		id := fmt.Sprintf("%s-%d", args[1], n)
		creating, a := request(ctx, "create "+id, svc.Ref{Project: "shop"}, nil)
		v, _, err := db.CreateVersion(creating, svc.NewVersion{Project: "shop", ID: id}, svc.CreateOptions{})
		if err != nil {
			return err
		}
		if a.Version, a.Status = id, 202; n%3 == 0 {
			if err := db.AddAudit(creating, a); err != nil {
				return err
			}
		}
		moving, _ := request(ctx, "move "+id, v.Ref, map[string]any{"status": "pending"})
		if _, err := db.Move(moving, v.Ref, svc.TriggerFetch, svc.Change{}); err != nil {
			return err
		}
		fmt.Println(id)
	}
}

// TestNoChangeWithoutRecord: after a kill of the process each change has exactly one
// record, by its request, with what it changed; and no record is of a change that is lost.
func TestNoChangeWithoutRecord(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "registry.db")
	for round := range 2 {
		p := svctest.Start(t, "change", path, fmt.Sprint("v", round))
		if !p.AwaitLines(t, 20) {
			t.Fatal(p.Stderr())
		}
		p.Kill()
		db, err := registry.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		checkRecords(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func checkRecords(t *testing.T, db *registry.DB) {
	t.Helper()
	page, err := db.ListAudit(t.Context(), svc.AuditFilter{}, svc.PageRequest{Limit: 100000})
	if err != nil {
		t.Fatal(err)
	}
	records := map[string]svc.AuditRecord{}
	for _, a := range page.Items {
		if _, twice := records[a.RequestID]; twice {
			t.Errorf("two records of %q", a.RequestID)
		}
		records[a.RequestID] = a
	}
	all, err := db.VersionsByStatus(t.Context(), svc.Statuses()...)
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	for _, v := range all {
		changes++
		if a := records["create "+v.Version]; a.Version != v.Version || a.Status == 0 && a.After["status"] != "pending" {
			t.Errorf("the record of the create of %s is %+v", v.Version, a)
		}
		if v.Status != svc.StatusFetching {
			continue
		}
		changes++
		if a := records["move "+v.Version]; a.Before["status"] != "pending" || a.After["status"] != "fetching" || a.Status != 0 {
			t.Errorf("the record of the move of %s is %+v", v.Version, a)
		}
	}
	if len(records) != changes || changes < 40 {
		t.Errorf("%d records of %d changes", len(records), changes)
	}
}

// TestDraft: a request without a change, and one that fails, leave no draft; the record of
// a request replaces its draft; work that continues after its request adds none.
func TestDraft(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "registry.db")
	db, err := registry.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.CreateProject(t.Context(), svc.Project{ID: "shop"}); err != nil {
		t.Fatal(err)
	}
	ref := svc.Ref{Project: "shop", Version: "v1"}
	none, _ := request(t.Context(), "none", ref, nil)
	if err := db.Ping(none); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Move(none, ref, svc.TriggerFetch, svc.Change{}); !errors.Is(err, svc.NotFound) {
		t.Fatalf("moved a version that does not exist: %v", err)
	}
	whole, a := request(t.Context(), "whole", svc.Ref{Project: "shop"}, nil)
	if _, _, err := db.CreateVersion(whole, svc.NewVersion{Project: "shop", ID: "v1"}, svc.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	a.Status = 202
	if err := db.AddAudit(whole, a); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Move(whole, ref, svc.TriggerFetch, svc.Change{}); err != nil { // it continues
		t.Fatal(err)
	}
	cutOff, _ := request(t.Context(), "cut off", ref, map[string]any{"status": "fetching"})
	if _, err := db.Move(cutOff, ref, svc.TriggerFail, svc.Change{Error: "x: y: z"}); err != nil {
		t.Fatal(err)
	}
	data, _ := request(t.Context(), "data", svc.Ref{Project: "shop"}, nil) // no change of the registry
	if err := db.DraftAudit(data); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second start adds nothing
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if db, err = registry.Open(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	defer db.Close()
	page, err := db.ListAudit(t.Context(), svc.AuditFilter{}, svc.PageRequest{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range page.Items {
		got = append(got, fmt.Sprint(a.RequestID, " ", a.Status, " ", a.After["status"]))
	}
	slices.Sort(got)
	if want := "cut off 0 failed; data 0 <nil>; whole 202 <nil>"; strings.Join(got, "; ") != want {
		t.Errorf("records %q, want %q", got, want)
	}
}

package registry_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	add := func(action, version string, at time.Time) svc.AuditRecord {
		t.Helper()
		a := svc.AuditRecord{
			Time: at, Actor: svc.AuditActor{Role: "admin", Token: "ci", Fingerprint: "0a1b2c3d", Name: "ana", Client: "10.0.0.1"}, Action: action,
			Project: "shop", Version: version, Status: 200, Before: map[string]any{"pinned": false}, After: map[string]any{"pinned": true}, Reason: "r", RequestID: "q",
		}
		if err := db.AddAudit(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	old := add("pinVersion", "v1", now.Add(-time.Hour))
	mid := add("pinVersion", "v2", now)
	last := add("archiveVersion", "v1", now)
	for name, tc := range map[string]struct {
		filter svc.AuditFilter
		want   []svc.AuditRecord
	}{
		"all":     {svc.AuditFilter{}, []svc.AuditRecord{last, mid, old}},
		"since":   {svc.AuditFilter{Since: now.Add(-time.Minute)}, []svc.AuditRecord{last, mid}},
		"version": {svc.AuditFilter{Project: "shop", Version: "v1"}, []svc.AuditRecord{last, old}},
		"action":  {svc.AuditFilter{Action: "archiveVersion"}, []svc.AuditRecord{last}},
		"none":    {svc.AuditFilter{Project: "other"}, []svc.AuditRecord{}},
	} {
		page, err := db.ListAudit(t.Context(), tc.filter, svc.PageRequest{})
		if diff := cmp.Diff(tc.want, page.Items, cmpopts.IgnoreFields(svc.AuditRecord{}, "ID")); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got:\n%s", name, err, diff)
		}
	}
	first, err := db.ListAudit(t.Context(), svc.AuditFilter{}, svc.PageRequest{Limit: 2})
	if err != nil || len(first.Items) != 2 || first.Next == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	if second, err := db.ListAudit(t.Context(), svc.AuditFilter{}, svc.PageRequest{Limit: 2, Before: first.Next}); err != nil || len(second.Items) != 1 || second.Next != 0 {
		t.Errorf("%+v, %v", second, err)
	}
}

// TestAuditIsAppendOnly: no statement changes or removes a record.
func TestAuditIsAppendOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "registry.db")
	db := registrytest.OpenAt(t, path)
	if err := db.AddAudit(t.Context(), svc.AuditRecord{Time: time.Now()}); err != nil {
		t.Fatal(err)
	}
	file := raw(t, path)
	for _, statement := range []string{"UPDATE audit SET actor = 'x'", "DELETE FROM audit"} {
		err := file.InTx(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), statement)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

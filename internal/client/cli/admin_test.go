package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

// answering serves one answer at one path, and runs a command line against it.
func answering(t *testing.T, request string, answer any, args ...string) (code int, out, errOut string) {
	t.Helper()
	return against(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Method + " " + r.URL.String(); got != request {
			t.Errorf("asked %s, want %s", got, request)
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}, append([]string{"admin", "gc"}, args...)...)
}

// against runs a command line with h as the server.
func against(t *testing.T, h http.HandlerFunc, args ...string) (code int, out, errOut string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	var stdout, stderr bytes.Buffer
	k := &kit.Kit{
		Streams: kit.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, Dir: t.TempDir(),
		Environ: []string{"HOME=" + t.TempDir(), "SVCCTL_ADMIN_TOKEN=x", "SVCCTL_SERVER=" + server.URL, "CI=1"},
	}
	code = Main(t.Context(), args, k, forms())
	return code, stdout.String(), stderr.String()
}

func garbage(dryRun bool) api.GarbageReport {
	one, two := api.ObjectAmount{Objects: 1, Bytes: 10}, api.ObjectAmount{Objects: 2, Bytes: 2048}
	return api.GarbageReport{
		DryRun: dryRun, GraceSeconds: 3600, Incomplete: true,
		Total: api.GarbageUse{Live: two, Pinned: one, Waiting: one, Gone: two},
		Projects: []api.GarbageProject{
			{
				ProjectID: "shop", Marked: []string{"v2", "v3"}, Removed: []string{"v0"},
				Versions: []api.GarbageVersion{
					{
						VersionID: "v1", Status: "destroyed", State: "destroying", Pinned: one,
						PinnedBy: []api.GarbagePin{{VersionID: "v2", Objects: 1, Bytes: 10}, {VersionID: "v4", Objects: 1, Bytes: 10}},
					},
					{VersionID: "v2", Live: two, Waiting: one, WaitingSeconds: 90.4, Gone: two},
				},
				Broken: []api.StorageProblem{{Code: "not_restorable", ProjectID: "shop", VersionID: "v1", Detail: "a hole"}},
			},
			{ProjectID: "sick", Error: "project sick was not collected"},
		},
	}
}

func TestAdminGC(t *testing.T) {
	t.Parallel()
	code, out, errOut := answering(t, "GET /v1/admin/gc?project=shop", garbage(true), "--dry-run", "--project", "shop")
	want := `VERSION  STATUS     DATA        LIVE         PINNED    PINNED BY  WAITING         DUE          OTHER
shop/v1  destroyed  destroying  -            10 B (1)  v2,v4      -               -            -
shop/v2  -          -           2.0 KiB (2)  -         -          10 B (1) 1m30s  2.0 KiB (2)  -
due: 2.0 KiB (2); waiting 10 B (1); pinned 10 B (1); live 2.0 KiB (2)
would be marked for deletion: v2, v3 of shop
fully deleted: v0 of shop
`
	if d := cmp.Diff(want, out); d != "" || code != 0 {
		t.Errorf("exit %d: %s", code, d)
	}
	for _, part := range []string{"shop/v1: nothing is deleted: not_restorable: a hole", "project sick was not collected", "incomplete: time limit reached"} {
		if !strings.Contains(errOut, part) {
			t.Errorf("no %q in %s", part, errOut)
		}
	}
	code, out, _ = answering(t, "POST /v1/admin/gc", garbage(false))
	if code != 0 || !strings.Contains(out, "DELETED") || !strings.Contains(out, "\ndeleted: 2.0 KiB (2)") || !strings.Contains(out, "\nmarked for deletion: v2, v3") {
		t.Errorf("exit %d: %s", code, out)
	}
	code, out, _ = answering(t, "POST /v1/admin/gc", garbage(false), "-o", "json")
	var back api.GarbageReport
	if err := json.Unmarshal([]byte(out), &back); err != nil || code != 0 || !cmp.Equal(back.Total, garbage(false).Total) {
		t.Errorf("exit %d: %v: %s", code, err, out)
	}
}

func TestAdminGCAudit(t *testing.T) {
	t.Parallel()
	well := api.StorageAudit{Projects: 1, Versions: 2, Stores: 3, Files: 4}
	code, out, errOut := answering(t, "POST /v1/admin/gc/audit?project=shop", well, "--audit", "-p", "shop")
	if code != 0 || out != "1 projects, 2 versions, 3 stores, 4 files: no problem\n" {
		t.Errorf("exit %d: %s%s", code, out, errOut)
	}
	sick := well
	sick.Problems = []api.StorageProblem{{Code: "file_missing", ProjectID: "shop", VersionID: "v1", Store: "main", Key: "shop/v0/k", Objects: 2, Detail: "it is not there\x1b[31m"}}
	code, out, errOut = answering(t, "POST /v1/admin/gc/audit", sick, "--audit")
	want := `VERSION  PROBLEM       STORE  OBJECTS  KEY        DETAIL
shop/v1  file_missing  main   2        shop/v0/k  it is not there[31m
1 projects, 2 versions, 3 stores, 4 files: 1 problem
`
	if d := cmp.Diff(want, out); d != "" || code != kit.ExitFailure || !strings.Contains(errOut, "the audit found 1 problem") {
		t.Errorf("exit %d: %s%s", code, d, errOut)
	}
	code, out, _ = answering(t, "POST /v1/admin/gc/audit", sick, "--audit", "-o", "json")
	var back api.StorageAudit
	if err := json.Unmarshal([]byte(out), &back); err != nil || code != kit.ExitFailure || len(back.Problems) != 1 {
		t.Errorf("exit %d: %v: %s", code, err, out)
	}
	if code, _, _ := answering(t, "", nil, "--audit", "--dry-run"); code != kit.ExitUsage {
		t.Errorf("exit %d", code)
	}
}

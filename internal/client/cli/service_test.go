package cli

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// TestServiceStatusBehindProxy: a proxy that hides the health checks does not hide the rest.
func TestServiceStatusBehindProxy(t *testing.T) {
	t.Parallel()
	serve := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/health/deep":
			http.NotFound(w, r)
		case "/v1/server":
			_ = json.NewEncoder(w).Encode(api.Server{Version: "1.2.3", Settings: []api.Setting{}})
		case "/v1/metrics/summary":
			_ = json.NewEncoder(w).Encode(api.MetricsSummary{Projects: []api.Traffic{}, Versions: []api.Traffic{}})
		default:
			_ = json.NewEncoder(w).Encode(api.DeployQueue{Max: 10, Items: []api.QueuedDeploy{{}}})
		}
	}
	code, out, errOut := against(t, serve, "service", "status")
	if code != 0 || !strings.Contains(out, "svcd 1.2.3: health unknown, a proxy hides /v1/health/deep\n") || !strings.Contains(out, "1 of at most 10 wait or run") {
		t.Errorf("exit code %d, stderr %q:\n%s", code, errOut, out)
	}
	if code, out, _ = against(t, serve, "service", "status", "-o", "json"); code != 0 || !strings.Contains(out, `"health": null`) {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// TestServiceStatus: one screen, the exit code of a failed check, and the document.
func TestServiceStatus(t *testing.T) {
	t.Parallel()
	ok := api.PartHealth{Status: api.CheckStatusOK}
	health := api.DeepHealth{Status: api.CheckStatusDegraded, Checks: api.HealthChecks{
		Registry: ok, Store: ok, Queue: api.QueueHealth{Status: api.CheckStatusOK, PendingJobs: 2, QueueMax: 10},
		Versions: api.VersionsHealth{Status: api.CheckStatusDegraded, Detail: "1 ready versions do not serve", NotServing: []string{"shop/v1"}},
		Tokens:   api.TokensHealth{Status: api.CheckStatusDegraded, Detail: "SVC_TOKENS_FILE cannot be read"},
	}}
	since := time.Date(2026, 11, 20, 1, 2, 3, 0, time.UTC)
	answers := map[string]any{
		"/v1/server": api.Server{
			Version: "1.2.3", StartedAt: api.At(since), APIURL: "https://deploy.example.com", GatewayURL: "https://apps.example.com", PreviewURLTemplate: "{version}--{project}.apps.example.com",
			Settings: []api.Setting{{Name: "SVC_ADMIN_TOKEN", Value: "(hidden)", Source: "environment"}},
			State: api.ServerState{
				DataDir: "/var/lib/svcctl", DiskTotalBytes: 40 << 30, DiskFreeBytes: 10 << 30, ObjectStore: "https://s3.example.com",
				RegistryCopiedAt: api.At(since), RegistryBehindSeconds: 2, DataBehindSeconds: 3, BackupAt: api.At(since), BackupTo: "/mnt/backup",
			},
		},
		"/v1/health/deep":     &health,
		"/v1/metrics/summary": api.MetricsSummary{Total: api.Traffic{Requests: 12, Errors: 3, Exceptions: 2, Bytes: 4096}, Projects: []api.Traffic{}, Versions: []api.Traffic{}},
	}
	serve := func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewEncoder(w).Encode(answers[r.URL.Path]); err != nil {
			t.Error(err)
		}
	}
	ago := regexp.MustCompile(`\([0-9]+[smhd] ago\)`)
	code, out, errOut := against(t, serve, "service", "status")
	want := `svcd 1.2.3: degraded, SVC_TOKENS_FILE cannot be read
  since     2026-11-20T01:02:03Z (AGO)
  API       https://deploy.example.com
  gateway   https://apps.example.com   hosts {version}--{project}.apps.example.com
  data      /var/lib/svcctl
  disk      10.0 GiB of 40.0 GiB free (25 %)
  store     https://s3.example.com, with the registry of 2026-11-20T01:02:03Z, 2s behind
  writes    the oldest that is not in the object store is 3s old
  deploys   2 of at most 10 wait or run
  versions  1 ready versions do not serve: shop/v1
  requests  12 in the last 5 minutes, 3 of them failed, 2 by an exception; 4.0 KiB sent
  backup    2026-11-20T01:02:03Z (AGO) to /mnt/backup
`
	if code != 0 || strings.Join(ago.Split(out, -1), "(AGO)") != want || errOut != "" {
		t.Errorf("exit code %d, stderr %q:\n%s", code, errOut, out)
	}
	health.Checks.Store = api.PartHealth{Status: api.CheckStatusUnavailable, Detail: "no answer"}
	code, out, errOut = against(t, serve, "service", "status", "-o", "json")
	if code != 1 || !strings.Contains(errOut, "health check failed: object store: no answer") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	var s serverStatus
	if err := json.Unmarshal([]byte(out), &s); err != nil || s.Server.State.BackupTo != "/mnt/backup" || s.Traffic.Errors != 3 || len(s.Server.Settings) != 0 {
		t.Errorf("%v: %s", err, out)
	}
}

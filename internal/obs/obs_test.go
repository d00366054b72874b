package obs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/lib/machine"
	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/svc"
)

func scrape(t *testing.T, m *obs.Metrics) string {
	t.Helper()
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if rec.Code != 200 {
		t.Fatalf("scraping: %d %s", rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// spec: [C11.7]
func TestMetrics(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics(buildinfo.Build{Version: "v1", Commit: "abc", Go: "go1"})
	runtimes := []svc.Runtime{{Ref: svc.Ref{Project: "shop", Version: "v-1"}, State: svc.RuntimeServing, RSSBytes: 42, CPU: 1500 * time.Millisecond, Descriptors: 7, Restarts: 3, Behind: 2 * time.Second, Tallies: []svc.Tally{{Kind: "k", Resource: "r", State: "waiting", Count: 8}}}, {State: svc.RuntimeStopped}}
	m.Watch(t.Context(), obs.Sources{
		QueueDepth: func(context.Context) (int, error) { return 3, nil },
		QueueMax:   10,
		Versions:   func(context.Context) (map[svc.Status]int, error) { return map[svc.Status]int{svc.StatusReady: 2}, nil },
		Runtimes:   func() []svc.Runtime { return runtimes },
		Queues: func(context.Context) map[svc.Ref][]svc.QueueStatus {
			if runtimes == nil {
				return nil
			}
			jobs := svc.QueueStatus{Name: "jobs", Backlog: 8, Oldest: time.Now().Add(-time.Hour).UnixMilli(), Deliveries: map[svc.Outcome]int64{svc.OutcomeException: 9}}
			return map[svc.Ref][]svc.QueueStatus{{Project: "shop", Version: "v-1"}: {jobs, {Name: "dead"}}}
		},
		NotServing: func() int { return 4 },
		Disk:       func() (machine.Disk, error) { return machine.Disk{Total: 20, Free: 10}, nil },
		Certificates: func(context.Context) ([]svc.Certificate, error) {
			return []svc.Certificate{{NotAfter: time.Unix(2e9, 0)}, {NotAfter: time.Unix(1.9e9, 0)}, {NotAfter: time.Unix(1.8e9, 0), Ordered: true}}, nil
		},
		Orders:            func() []svc.CertificateOrder { return []svc.CertificateOrder{{State: svc.OrderFailed}} },
		Spares:            func() int { return 1 },
		Tokens:            func() *svc.TokensTrouble { return &svc.TokensTrouble{} },
		SecretKeys:        func(context.Context) (map[string]int, error) { return map[string]int{"2026-11": 3}, nil },
		GatewayInflight:   func() int64 { return 5 },
		GatewayWebsockets: func() int64 { return 6 },
	})
	m.DeployDone("ready")
	m.StepDone("fetching", 10*time.Millisecond)
	m.StepTolerated("preparing")
	m.PromoteDone("done", time.Second)
	m.PromoteDone("unchanged", 0)
	m.CutOverDone(svc.CutOver{Held: time.Second})
	m.CutOverDone(svc.CutOver{Held: time.Second, Window: time.Second / 2})
	m.JanitorDone("sweep", false)
	m.JanitorDone("audit", true)
	m.RuntimeRestarted("crash")
	m.RuntimeLaunched(true)
	m.WebhookTried("failed")
	m.PagedOut(svc.PagedOut{Way: svc.PageOutGroup, Bytes: 7})
	m.Recycled()
	m.S3Requests(svc.RequestCount{Op: "put", Result: "ok", N: 1, Took: time.Second / 4})
	m.ProjectRequest("shop", 200, false)
	m.ProjectRequest("shop", 500, true)
	m.ProjectRequest("shop", 1000, false)
	m.CallDone("version_archived")
	m.Handshake("failed")
	m.CertificateOrder("ok")
	m.EventsDone("scheduled", "exception", 2)
	m.HTTPRequest("/v1/health", "GET", 200)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { m.GatewayRequest("production", 200, time.Millisecond) })
	}
	all.Wait()
	m.GatewayRequest("", 404, time.Millisecond)
	m.GatewayRequest("made-up", 200, time.Millisecond)
	m.GatewayRequest("preview", 1000, time.Millisecond)
	text := scrape(t, m)
	for _, want := range []string{
		`svc_build_info{commit="abc",go="go1",version="v1"} 1`,
		`svc_deploys_total{result="ready"} 1`, `svc_deploys_total{result="failed"} 0`,
		`svc_deploy_step_seconds_count{step="fetching"} 1`, `svc_deploy_lenient_total{step="preparing"} 1`,
		`svc_deploy_queue_depth 3`, `svc_deploy_queue_max 10`, `svc_versions{status="ready"} 2`,
		`svc_promotes_total{result="done"} 1`, `svc_promotes_total{result="unchanged"} 1`, `svc_promote_seconds_sum 1`, `svc_promote_seconds_count 1`,
		`svc_promote_window_seconds_sum 0.5`, `svc_promote_window_seconds_count 1`,
		`svc_runtime_up{project="shop",version="v-1"} 1`, `svc_runtime_rss_bytes{project="shop",version="v-1"} 42`, `svc_runtime_cpu_seconds_total{project="shop",version="v-1"} 1.5`,
		`svc_runtime_open_fds{project="shop",version="v-1"} 7`, `svc_runtime_restarts{project="shop",version="v-1"} 3`, `svc_versions_not_serving 4`,
		`svc_queue_backlog{project="shop",queue="jobs",version="v-1"} 8`, `svc_queue_oldest_seconds{project="shop",queue="jobs",version="v-1"} 36`,
		`svc_queue_oldest_seconds{project="shop",queue="dead",version="v-1"} 0`,
		`svc_queue_deliveries_total{outcome="exception",project="shop",queue="jobs",version="v-1"} 9`,
		`svc_binding_items{kind="k",project="shop",resource="r",state="waiting",version="v-1"} 8`,
		`svc_janitor_runs_total{janitor="sweep",result="done"} 1`, `svc_janitor_runs_total{janitor="audit",result="failed"} 1`,
		`svc_runtime_launches_total{spare="true"} 1`, `svc_spare_hosts 1`, `svc_webhook_tries_total{result="failed"} 1`, `svc_tokens_file_valid 0`, `svc_secrets_sealed{key="2026-11"} 3`,
		`svc_pageouts_total{way="group"} 1`, `svc_paged_out_bytes_total 7`, `svc_recycles_total 1`,
		`svc_runtime_restarts_total{reason="crash"} 1`, `svc_s3_requests_total{op="put",result="ok"} 1`, `svc_s3_request_seconds_total{op="put",result="ok"} 0.25`,
		`svc_gateway_project_requests_total{class="2xx",project="shop"} 1`, `svc_gateway_project_requests_total{class="5xx",project="shop"} 1`,
		`svc_gateway_project_requests_total{class="0xx",project="shop"} 1`, `svc_worker_exceptions_total{project="shop"} 1`,
		`svc_data_behind_seconds{project="shop",version="v-1"} 2`, `svc_disk_size_bytes 20`, `svc_disk_free_bytes 10`,
		`svc_service_calls_total{code="version_archived"} 1`, `svc_tls_handshakes_total{result="failed"} 1`, `svc_tls_orders_total{result="ok"} 1`, `svc_tls_orders{state="failed"} 1`, `svc_tls_orders{state="waiting"} 0`, `svc_tls_first_expiry_timestamp_seconds 1.9e+09`,
		`svc_worker_events_total{handler="scheduled",outcome="exception"} 2`,
		`svc_http_requests_total{code="200",method="GET",route="/v1/health"} 1`,
		`svc_gateway_requests_total{code="200",role="production"} 50`, `svc_gateway_requests_total{code="404",role=""} 1`,
		`svc_gateway_requests_total{code="0",role=""} 2`, `svc_gateway_request_seconds_count{role="production"} 50`,
		`svc_gateway_inflight 5`, `svc_gateway_websockets 6`, `go_goroutines`, `process_open_fds`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	runtimes = nil
	if text := scrape(t, m); strings.Contains(text, "v-1") {
		t.Error("a stopped version still has series")
	}
}

// TestProjectsAreBounded: projects beyond a limit share their series.
func TestProjectsAreBounded(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics(buildinfo.Read())
	for range 2 {
		for i := range 1000 {
			m.ProjectRequest(fmt.Sprint("p", i), 200, false)
		}
	}
	text := scrape(t, m)
	if n := strings.Count(text, "svc_worker_exceptions_total{"); n != 201 {
		t.Errorf("series of %d projects", n)
	}
	for _, want := range []string{`{class="2xx",project="p0"} 2`, `{class="2xx",project="p199"} 2`, `{class="2xx",project="other"} 1600`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestFailingSourceIsOmitted(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics(buildinfo.Read())
	m.Watch(t.Context(), obs.Sources{
		QueueDepth: func(context.Context) (int, error) { return 0, errors.New("closed") }, QueueMax: 7,
		Versions: func(context.Context) (map[svc.Status]int, error) { return nil, errors.New("closed") },
	})
	text := scrape(t, m)
	if strings.Contains(text, "svc_deploy_queue_depth") || !strings.Contains(text, "svc_deploy_queue_max 7") {
		t.Errorf("got\n%s", text)
	}
}

func TestBuildInfo(t *testing.T) {
	t.Parallel()
	b := buildinfo.Read()
	if b.Version == "" || b.Go == "" || b.OS == "" || b.Arch == "" {
		t.Errorf("got %+v", b)
	}
}

func TestJSONLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := obs.NewLogger(&out, obs.LogOptions{})
	log.Debug("omitted")
	log.With("project", "shop").Info("version deployed", "duration", 1234567*time.Nanosecond, "retry_in", 1500*time.Millisecond)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v in %s", err, &out)
	}
	stamp, _ := line["time"].(string)
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(stamp) {
		t.Errorf("time is %q", stamp)
	}
	if line["project"] != "shop" || line["duration_ms"] != 1.234 || line["retry_in_ms"] != 1500.0 || line["msg"] != "version deployed" {
		t.Errorf("got %v", line)
	}
}

func TestTerminalLog(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		color bool
		log   func(*slog.Logger)
		want  string
	}{
		{"plain", false, func(l *slog.Logger) { l.Info("ready", "n", 1) }, "INFO  ready n=1\n"},
		{"quoted", false, func(l *slog.Logger) { l.Warn("odd", "a", "b c", "e", "") }, "WARN  odd a=\"b c\" e=\"\"\n"},
		{"attrs and groups", false, func(l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).Error("x", "c", 3, slog.Group("h", "d", 4), slog.Group("", "e", 5))
		}, "ERROR x a=1 g.b=2 g.c=3 g.h.d=4 g.e=5\n"},
		{"lines", false, func(l *slog.Logger) { l.Info("one\ntwo\n") }, "INFO  one\n    two\n"},
		{"control characters", false, func(l *slog.Logger) { l.Info("a\x1b[2Jb") }, "INFO  a\uFFFD[2Jb\n"},
		{"color", true, func(l *slog.Logger) { l.Info("ready", "n", 1) }, "\x1b[32mINFO \x1b[0m ready \x1b[2mn=\x1b[0m1\n"},
		{"below the level", false, func(l *slog.Logger) { l.Debug("x") }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			tc.log(obs.NewLogger(&out, obs.LogOptions{Terminal: true, Color: tc.color}))
			_, got, _ := strings.Cut(out.String(), " ") // after the time
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func BenchmarkGatewayRequest(b *testing.B) {
	m := obs.NewMetrics(buildinfo.Read())
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.GatewayRequest("production", 200, time.Millisecond)
		}
	})
}

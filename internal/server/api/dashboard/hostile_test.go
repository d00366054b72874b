package dashboard_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/dashboard"
	"github.com/svcctl/svcctl/pkg/api"
)

// hostile is in every text that the API answers with. Each part leaves another context of
// HTML when it is not escaped.
const hostile = `javascript:x()//"'><x-evil onx-evil=1></title></script></style></textarea>--><svg onload=x()>{{.}}` + "`${x()}`\u2028"

// answers are what the API's operations return, by their path below /v1.
func answers() map[string]any {
	return map[string]any{
		`/whoami`: api.Whoami{}, `/projects`: api.ProjectPage{}, `/versions`: api.VersionPage{}, `/queue`: api.DeployQueue{}, `/server`: api.Server{}, `/server/leases`: api.LeasePage{}, `/nodes`: api.NodeList{}, `/gateways`: api.GatewayList{}, `/server/log`: api.LogLines{},
		`/metrics/summary`: api.MetricsSummary{}, `/health/deep`: api.DeepHealth{}, `/events`: api.EventPage{},
		`/projects/[^/]*`: api.Project{}, `/projects/[^/]*/versions/[^/]*`: api.Version{},
		`/projects/[^/]*/versions/[^/]*/logs`: api.LogLines{}, `/projects/[^/]*/logs`: api.LogLines{}, `/projects/[^/]*/versions/[^/]*/env`: api.EnvList{},
		`/projects/[^/]*/versions/[^/]*/bindings`: api.BindingList{}, `/runtime/routes`: api.RoutePage{}, `/projects/[^/]*/branches`: api.BranchTree{},
		`/projects/[^/]*/versions/[^/]*/database`: api.DatabaseList{}, `/projects/[^/]*/versions/[^/]*/database/tables`: api.TableList{},
		`/projects/[^/]*/versions/[^/]*/database/tables/[^/]*/rows`: api.RowPage{}, `/projects/[^/]*/versions/[^/]*/database/query`: api.QueryResults{},
		`/projects/[^/]*/versions/[^/]*/kv`: api.NamespaceList{}, `/projects/[^/]*/versions/[^/]*/kv/[^/]*/keys`: api.KeyPage{},
		`/projects/[^/]*/versions/[^/]*/kv/[^/]*/values/[^/]*`: "a value", `/projects/[^/]*/versions/[^/]*/objects`: api.BucketList{},
		`/projects/[^/]*/versions/[^/]*/objects/[^/]*`: api.ObjectPage{}, `/projects/[^/]*/versions/[^/]*/queues`: api.QueueList{},
		`/projects/[^/]*/promotions`: api.PromotionPage{}, `/projects/[^/]*/promotions/[^/]*`: api.Promotion{}, `/projects/[^/]*/versions/[^/]*/queues/[^/]*`: api.Queue{},
		`/projects/[^/]*/versions/[^/]*/queues/[^/]*/messages`: api.MessageList{}, `/projects/[^/]*/versions/[^/]*/workflows`: api.WorkflowList{},
		`/projects/[^/]*/versions/[^/]*/workflows/[^/]*/instances`:       api.WorkflowInstancePage{},
		`/projects/[^/]*/versions/[^/]*/workflows/[^/]*/instances/[^/]*`: api.WorkflowInstanceDetail{},
		`/projects/[^/]*/versions/[^/]*/bundle`:                          api.Bundle{}, `/projects/[^/]*/compare`: api.Comparison{}, `/projects/[^/]*/versions/[^/]*/promotion-plan`: api.PromotionPlan{}, `/projects/[^/]*/versions/[^/]*/release-plan`: api.ReleasePlan{}, `/audit`: api.AuditPage{},
		`/projects/[^/]*/versions/[^/]*/crons`: api.CronList{}, `/projects/[^/]*/versions/[^/]*/crons/runs`: api.CronRunPage{},
	}
}

// pages are the addresses of the dashboard that only read.
func pages() []string {
	v := "/p/" + url.PathEscape(hostile) + "/v/" + url.PathEscape(hostile)
	return []string{
		"/", "/projects", "/p/a", "/p/a/rollback", "/p/a/rollback?data=keep", "/p/a/rollback?data=restore", "/p/a?q=" + url.QueryEscape(hostile), "/p/" + url.PathEscape(hostile), v, "/p/a/row/b",
		v + "/logs", "/p/a/logs?request=" + url.QueryEscape(hostile), v + "/env?reveal", v + "/bindings", v + "/process", v + "/promote", v + "/release", v + "/destroy",
		"/p/a/tree", "/p/a/promotions", "/p/a/promotions/op", v + "/env?edit=" + url.QueryEscape(hostile), "/activity", "/audit?project=" + url.QueryEscape(hostile), "/server", "/server/routes", "/server/nodes", "/server/gateways", "/server/leases?project=" + url.QueryEscape(hostile), "/server/log?search=" + url.QueryEscape(hostile), v + "/bundle", v + "/data", v + "/data/d1/DB?sql=" + url.QueryEscape(hostile),
		v + "/data/d1/DB?table=a", v + "/data/kv/KV?prefix=" + url.QueryEscape(hostile), v + "/data/kv/KV?key=" + url.QueryEscape(hostile), v + "/data/r2/R2", v + "/data/queue/q",
		v + "/data/workflow/w", v + "/data/workflow/w?key=" + url.QueryEscape(hostile),
	}
}

// fill sets every text in a value, and makes lists and maps with members.
func fill(v reflect.Value, text string) {
	switch v.Kind() { //nolint:exhaustive // the others stay unchanged
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			raw, _ := json.Marshal(map[string]string{text: text}) // texts have a form in JSON
			v.SetBytes(raw)
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, text)
		fill(value, text)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Interface:
		v.Set(reflect.ValueOf(text))
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Struct:
		if v.CanAddr() && v.Type() == reflect.TypeFor[api.Time]() {
			v.Set(reflect.ValueOf(api.At(time.Now())))
			return
		}
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field, text)
			}
		}
	}
}

// hostileAPI answers with text in every place. status is that of each version.
func hostileAPI(t *testing.T, text, status string) http.Handler {
	t.Helper()
	bodies := map[*regexp.Regexp][]byte{}
	for path, kind := range answers() {
		v := reflect.New(reflect.TypeOf(kind))
		fill(v.Elem(), text)
		switch body := v.Interface().(type) {
		case *api.Whoami:
			body.Roles = []api.WhoamiRoles{api.WhoamiRolesAdmin}
		case *api.Version:
			body.Status = api.VersionStatus(status)
		case *api.PromotionPage: // production was released, and has one before it
			body.Items[0].Status, body.Items[0].Kind = api.PromotionStatusDone, api.PromotionKindRelease
		}
		raw, err := json.Marshal(v.Interface())
		if err != nil {
			t.Fatal(err)
		}
		bodies[regexp.MustCompile("^/v1"+path+"$")] = raw
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for path, body := range bodies {
			if path.MatchString(r.URL.EscapedPath()) {
				w.Header().Set("Content-Type", "application/json")
				if strings.HasSuffix(r.URL.Path, "/promotions") && r.URL.Query().Has("cursor") {
					body = []byte(`{"items":[]}`) // a rollback reads all pages
				}
				_, _ = w.Write(body)
				return
			}
		}
		t.Errorf("the dashboard calls %s, for which the test has no answer", r.URL.EscapedPath())
	})
}

// signedIn serves a dashboard of an API and returns what loads a page with a session.
func signedIn(t *testing.T, handler http.Handler) func(path string) (*httptest.ResponseRecorder, string) {
	t.Helper()
	d, err := dashboard.New(dashboard.Config{API: handler, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		t.Fatal(err)
	}
	call := func(method, path, body, cookie string) (*httptest.ResponseRecorder, string) {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Cookie", cookie)
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		return w, w.Body.String()
	}
	resp, page := call(http.MethodPost, "/sign-in", "token=any", "")
	cookie, _, found := strings.Cut(resp.Header().Get("Set-Cookie"), ";")
	if !found {
		t.Fatalf("%d %s", resp.Code, page)
	}
	return func(path string) (*httptest.ResponseRecorder, string) { return call(http.MethodGet, path, "", cookie) }
}

// TestHostileTexts: text of workers and pipelines stays text on every page.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, status := range []string{hostile, "ready", "failed"} {
		get := signedIn(t, hostileAPI(t, hostile, status))
		for _, path := range pages() {
			resp, page := get(path)
			if resp.Code != http.StatusOK || !strings.Contains(page, "x-evil") {
				t.Errorf("%s: %d without the text: %s", path, resp.Code, page)
			}
			for _, active := range []string{"<x-evil", "<svg onload", `href="javascript:`, `src="javascript:`, `action="javascript:`, `url=javascript:`, "style="} {
				if at := strings.Index(page, active); at >= 0 {
					t.Errorf("%s has %s: %s", path, active, page[max(0, at-200):at+100])
				}
			}
			if n := strings.Count(page, "<script"); n > 1 || strings.Count(page, "</script>") != n {
				t.Errorf("%s has %d scripts", path, n)
			}
		}
	}
}

// TestSize: a page with all that it loads is small.
func TestSize(t *testing.T) {
	t.Parallel()
	get := signedIn(t, hostileAPI(t, "shop", "ready"))
	_, first := get("/")
	total := packed(t, first)
	for _, m := range regexp.MustCompile(`(?:href|src)="(/-/[^"]+)"`).FindAllStringSubmatch(first, -1) {
		resp, body := get(m[1])
		if resp.Code != http.StatusOK || resp.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %d %v", m[1], resp.Code, resp.Header())
		}
		total += packed(t, body)
	}
	const most = 40 << 10
	if total > most || total < 4<<10 {
		t.Errorf("the first page has %d bytes, want at most %d", total, most)
	}
	for _, elsewhere := range regexp.MustCompile(`(?:src|href|action)="(?:https?:)?//[^"]*"`).FindAllString(first, -1) {
		t.Errorf("the page loads %s", elsewhere)
	}
}

// packed returns the compressed size of a text.
func packed(t *testing.T, text string) int {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := fmt.Fprint(zip, text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

package httpapi_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// spec: [C3.1] [C3.3] [C3.4] [C12.5] [C12.6]
func TestProjects(t *testing.T) {
	t.Parallel()
	h := start(t)
	body := api.CreateProject{ID: "shop", GitRemote: "https://git.example/shop.git"}
	created := h.do(request{method: "POST", path: "/v1/projects", body: body}).want(201)
	if got := created.Header.Get("Location"); got != h.url+"/v1/projects/shop" {
		t.Errorf("Location is %s", got)
	}
	again := h.do(request{method: "POST", path: "/v1/projects", body: body}).want(200)
	h.do(request{method: "POST", path: "/v1/projects", body: api.CreateProject{ID: "shop"}}).wantProblem(409, "project_exists")
	got := h.do(request{method: "GET", path: "/v1/projects/shop"}).want(200)
	for _, r := range []reply{again, got} {
		if string(r.body) != string(created.body) || r.Header.Get("ETag") != created.Header.Get("ETag") || r.Header.Get("ETag") == "" {
			t.Errorf("got %s %s, created %s %s", r.body, r.Header.Get("ETag"), created.body, created.Header.Get("ETag"))
		}
	}
	if strings.Contains(string(got.body), "prod_url") || !strings.Contains(string(got.body), `"prod_version_id":""`) {
		t.Errorf("a project without production is %s", got.body)
	}
	if !regexp.MustCompile(`"created_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`).Match(got.body) {
		t.Errorf("no timestamp with milliseconds in %s", got.body)
	}
	h.ready("shop", "v-1")
	if err := h.db.SetProduction(t.Context(), "shop", "", "v-1"); err != nil {
		t.Fatal(err)
	}
	after := h.do(request{method: "GET", path: "/v1/projects/shop"}).want(200)
	if p := decode[api.Project](after); p.ProdVersionID != "v-1" || p.ProdURL != "http://shop.ingress.local:8787" {
		t.Errorf("got %+v", p)
	}
	if after.Header.Get("ETag") == got.Header.Get("ETag") {
		t.Error("the ETag did not change with production")
	}
	h.do(request{method: "GET", path: "/v1/projects/unknown"}).wantProblem(404, "project_not_found")
	h.do(request{method: "GET", path: "/v1/projects/a%2Fb"}).wantProblem(404, "project_not_found")
}

// spec: [C1.3] [C4.1] [C4.3] [C4.4] [C4.5] [C4.9] [C4.10] [C4.13] [C7.1] [C13.3] [C13.4] [C13.13]
func TestVersions(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	digest := "sha256:" + strings.Repeat("a", 64)
	body := api.CreateVersion{ID: "v-1", GitRef: "main", GitSHA: "abc", ArtifactDigest: digest, Env: map[string]string{"GREETING": "hi"}}
	create := request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: body}
	accepted := h.do(create).want(202)
	a := decode[api.VersionAccepted](accepted)
	want := api.VersionAccepted{
		ID: "v-1", ProjectID: "shop", Status: "pending",
		PreviewURL: "http://v-1.shop.ingress.local:8787", PollURL: h.url + "/v1/projects/shop/versions/v-1",
	}
	if a.PollTicket == nil {
		t.Error("no poll ticket")
	}
	a.PollTicket = nil
	if a != want || accepted.Header.Get("Location") != want.PollURL {
		t.Errorf("got %+v at %s, want %+v", a, accepted.Header.Get("Location"), want)
	}
	h.do(create).want(202) // the same again [D9]
	create.body = api.CreateVersion{ID: "v-1"}
	h.do(create).wantProblem(409, "version_exists")

	got := h.do(request{method: "GET", path: strings.TrimPrefix(a.PollURL, h.url)}).want(200)
	v := decode[api.Version](got)
	if v.GitRef != "main" || v.GitSHA != "abc" || v.ArtifactDigest != digest || v.Env["GREETING"] != "(hidden, 2 bytes)" || v.Status != "pending" ||
		v.ParentVersionID != nil || v.ReadyAt != nil || v.ProdURL != "http://shop.ingress.local:8787" || v.PollURL != a.PollURL || v.IsProduction {
		t.Errorf("got %+v", v)
	}
	for _, field := range []string{`"error":""`, `"parent_version_id":null`, `"ready_at":null`, `"woken_at":null`, `"warnings":[]`, `"fork_txid":""`} {
		if !strings.Contains(string(got.body), field) {
			t.Errorf("no %s in %s", field, got.body)
		}
	}
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-2"}).wantProblem(404, "version_not_found")
	h.do(request{method: "GET", path: "/v1/projects/unknown/versions/v-1"}).want(404)
	h.do(request{method: "POST", path: "/v1/projects/unknown/versions", token: deployToken, body: "{}"}).wantProblem(404, "project_not_found")
}

// TestForks creates versions with a parent: errors, inherited overrides, and repeats
// after the parent has changed [D9].
// spec: [C2.21] [C4.3] [C5.17] [C13.6] [C13.7]
func TestForks(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	ref := func(id string) svc.Ref { return svc.Ref{Project: "shop", Version: id} }
	create := func(body string) reply {
		t.Helper()
		return h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: body})
	}
	create(`{"id":"v-1","env":{"A":"1","B":"2"}}`).want(202)
	for body, code := range map[string]string{
		`{"parent_version_id":"v-1"}`:            "parent_not_ready",
		`{"parent_version_id":"v-0"}`:            "parent_not_found",
		`{"parent_version_id":"No"}`:             "parent_not_found",
		`{"id":"v-9","parent_version_id":"v-9"}`: "parent_not_found",
	} {
		p := create(body).wantProblem(422, code)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != "/parent_version_id" || p.Errors[0].Code != code {
			t.Errorf("%s: %+v", body, p)
		}
	}
	h.deploy(ref("v-1"))
	const child = `{"id":"v-2","parent_version_id":"v-1","git_ref":"pull/7","env":{"B":"3"}}`
	create(child).want(202)
	if err := h.db.SetForkTXID(t.Context(), ref("v-2"), "17"); err != nil {
		t.Fatal(err)
	}
	v := decode[api.Version](h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-2"}).want(200))
	if v.ParentVersionID == nil || *v.ParentVersionID != "v-1" || v.ForkTXID != "17" || len(v.Env) != 2 || v.Env["A"] != "(hidden, 1 bytes)" || v.Env["B"] != "(hidden, 1 bytes)" {
		t.Errorf("got %+v", v)
	}
	if err := h.db.SetProduction(t.Context(), "shop", "", "v-1"); err != nil {
		t.Fatal(err)
	}
	p := create(`{"parent_version_id":"v-1","git_ref":"pull/8"}`).wantProblem(422, "fork_of_production")
	if p.Hint == "" || len(p.Errors) != 1 {
		t.Errorf("got %+v", p)
	}
	create(child).want(202)
	create(`{"id":"v-2","git_ref":"pull/7","env":{"B":"3"}}`).wantProblem(409, "version_exists")
	create(`{"parent_version_id":null}`).want(202)
}

// spec: [C4.2] [C4.11] [C13.5] [C13.6]
func TestGeneratedIDAndReadyVersion(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	a := decode[api.VersionAccepted](h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: "{}"}).want(202))
	if !regexp.MustCompile(`^v-\d{14}$`).MatchString(a.ID) {
		t.Errorf("the generated id is %q", a.ID)
	}
	ref := svc.Ref{Project: "shop", Version: a.ID}
	before := h.do(request{method: "GET", path: "/v1/projects/shop/versions/" + a.ID}).want(200)
	h.deploy(ref)
	ready := h.do(request{method: "GET", path: "/v1/projects/shop/versions/" + a.ID}).want(200)
	v := decode[api.Version](ready)
	if v.Status != "ready" || v.ReadyAt == nil || len(v.Timeline) < 4 {
		t.Errorf("got %s", ready.body)
	}
	if before.Header.Get("ETag") == ready.Header.Get("ETag") {
		t.Error("the ETag did not change with the status")
	}
	// Traffic does not change it.
	if err := h.db.TouchRequests(t.Context(), map[svc.Ref]time.Time{ref: time.Now()}); err != nil {
		t.Fatal(err)
	}
	touched := h.do(request{method: "GET", path: "/v1/projects/shop/versions/" + a.ID}).want(200)
	if decode[api.Version](touched).LastRequestAt == nil || touched.Header.Get("ETag") != ready.Header.Get("ETag") {
		t.Errorf("got %s with %s", touched.body, touched.Header.Get("ETag"))
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	send := func(key, body string) reply {
		return h.do(request{
			method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: body,
			header: http.Header{"Idempotency-Key": {key}}, outside: key == "" || len(key) > 255,
		})
	}
	first := decode[api.VersionAccepted](send("k 1", `{"git_ref":"main","git_sha":"a"}`).want(202))
	again := decode[api.VersionAccepted](send("k 1", ` {"git_sha":"a", "git_ref":"main"} `).want(202))
	if first.ID != again.ID {
		t.Errorf("one key created %s and %s", first.ID, again.ID)
	}
	send("k 1", `{"git_ref":"other"}`).want(422)
	send("", `{}`).wantProblem(400, "invalid_idempotency_key")
	send(strings.Repeat("k", 256), `{}`).wantProblem(400, "invalid_idempotency_key")
	send("ü", `{}`).wantProblem(400, "invalid_idempotency_key")
}

// spec: [C11.5] [C13.8] [C13.9]
func TestQueueFull(t *testing.T) {
	t.Parallel()
	h := start(t, func(d *httpapi.Deps) { d.QueueMax = 1 })
	h.project("shop")
	h.version("shop", "v-1")
	got := h.do(request{method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: "{}"})
	p := got.wantProblem(503, "queue_full")
	if !p.QueueFull || p.PendingJobs == nil || *p.PendingJobs != 1 || p.QueueMax == nil || *p.QueueMax != 1 {
		t.Errorf("got %s", got.body)
	}
	deep := h.do(request{method: "GET", path: "/v1/health/deep", token: "none"}).want(503)
	d := decode[api.DeepHealth](deep)
	if d.Status != "degraded" || d.Code != "queue_full" || !d.QueueFull || *d.PendingJobs != 1 || *d.QueueMax != 1 || deep.Header.Get("Retry-After") == "" {
		t.Errorf("got %s", deep.body)
	}
}

// spec: [C8.2]
func TestPromote(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	for _, v := range []string{"v-1", "v-2"} {
		h.ready("shop", v)
	}
	const path = "/v1/projects/shop/versions/v-1/promote"
	done := h.do(request{method: "POST", path: path}).want(202) // no body at all
	a := decode[api.PromotionAccepted](done)
	if a.OperationID != "op-v-1" || a.PreviousVersionID != "" || a.ProdURL != "http://shop.ingress.local:8787" ||
		a.PollURL != h.url+"/v1/projects/shop/promotions/op-v-1" || done.Header.Get("Location") != a.PollURL {
		t.Errorf("got %+v", a)
	}
	unchanged := decode[api.PromotionAccepted](h.do(request{method: "POST", path: path, body: "{}"}).want(202))
	if unchanged.Status != "unchanged" || unchanged.PollURL != h.url+"/v1/projects/shop/versions/v-1" {
		t.Errorf("got %+v", unchanged)
	}
	stale := "v-9"
	second := request{method: "POST", path: "/v1/projects/shop/versions/v-2/promote", body: api.PromoteVersion{ExpectedProdVersionID: &stale}}
	h.do(second).wantProblem(412, "production_moved")
	current := "v-1"
	second.body = api.PromoteVersion{ExpectedProdVersionID: &current, Reason: "release"}
	h.do(second).want(202)

	got := decode[api.Promotion](h.do(request{method: "GET", path: "/v1/projects/shop/promotions/op-v-2"}).want(200))
	if got.VersionID != "v-2" || got.PreviousVersionID != "v-1" || got.Reason != "release" || got.Status != "done" || got.FinishedAt == nil {
		t.Errorf("got %+v", got)
	}
	h.do(request{method: "GET", path: "/v1/projects/shop/promotions/op-9"}).want(404)
	page := decode[api.PromotionPage](h.do(request{method: "GET", path: "/v1/projects/shop/promotions?limit=1"}).want(200))
	if len(page.Items) != 1 || page.Items[0].OperationID != "op-v-2" || page.NextCursor == nil {
		t.Fatalf("got %+v", page)
	}
	page = decode[api.PromotionPage](h.do(request{method: "GET", path: "/v1/projects/shop/promotions?cursor=" + *page.NextCursor}).want(200))
	if len(page.Items) != 1 || page.Items[0].OperationID != "op-v-1" || page.NextCursor != nil {
		t.Errorf("got %+v", page)
	}
	h.do(request{method: "POST", path: "/v1/projects/shop/versions/v-9/promote"}).wantProblem(404, "version_not_found")
}

func TestPromoteIfMatch(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	for _, v := range []string{"v-1", "v-2", "v-3"} {
		h.ready("shop", v)
	}
	promote := func(version, ifMatch string) reply {
		return h.do(request{
			method: "POST", path: "/v1/projects/shop/versions/" + version + "/promote", header: http.Header{"If-Match": {ifMatch}},
		})
	}
	etag := func(path string) string {
		return h.do(request{method: "GET", path: path}).want(200).Header.Get("ETag")
	}
	project, version := etag("/v1/projects/shop"), etag("/v1/projects/shop/versions/v-1")
	for _, bad := range []string{`"other"`, "W/" + project, strings.Trim(project, `"`), ""} {
		promote("v-1", bad).wantProblem(412, "etag_mismatch")
	}
	promote("v-1", version).want(202)
	promote("v-2", project).wantProblem(412, "etag_mismatch") // production has moved since
	promote("v-2", `"other", `+etag("/v1/projects/shop")).want(202)
	promote("v-3", "*").want(202)
	promote("v-9", "*").wantProblem(404, "version_not_found")
	// The promotion's compare-and-set expects the production that matched.
	h.fakes.mu.Lock()
	defer h.fakes.mu.Unlock()
	for i, want := range []string{"", "v-1", "v-2"} {
		if got := h.fakes.promoted[i].ExpectedProd; got == nil || *got != want {
			t.Errorf("promotion %d expects %v, want %q", i, got, want)
		}
	}
}

// TestWorkerNames: the first worker name that a project gets stays, unless a request renames it.
func TestWorkerNames(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("my-app")
	create := func(id, name string, renamed bool) reply {
		header := http.Header{"Svc-Worker-Name": {name}}
		if renamed {
			header.Set("Svc-Worker-Renamed", "true")
		}
		return h.do(request{method: "POST", path: "/v1/projects/my-app/versions", token: deployToken, header: header, body: api.CreateVersion{ID: id}})
	}
	create("v-1", "my_app", false).want(202)
	create("v-2", "my-app", false).wantProblem(409, "project_of_other_worker")
	create("v-3", "my-app", true).want(202)
	create("v-4", "my_app", false).wantProblem(409, "project_of_other_worker")
}

package httpapi_test

import (
	"crypto/sha256"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/server/api/dashboard"
	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// browser is a browser's view of the dashboard: it keeps cookies and follows no redirect.
type browser struct {
	*harness
	cookie  string
	cookies []*http.Cookie // of the last answer
	page    string         // the last answer
	header  http.Header
}

// startPages serves API and dashboard, with a token of each role.
func startPages(t *testing.T, change ...func(*httpapi.Deps)) *browser {
	t.Helper()
	var api *http.Handler
	named := func() []svc.Token {
		return []svc.Token{{Name: "team", Role: svc.RoleRead, Hash: sha256.Sum256([]byte("token-of-team"))}}
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*api).ServeHTTP(w, r) })
	pages, err := dashboard.New(dashboard.Config{API: handler, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	change = append(change, func(d *httpapi.Deps) { d.Pages = pages })
	b := &browser{harness: start(t, append([]func(*httpapi.Deps){func(d *httpapi.Deps) { d.Tokens.Named = named }}, change...)...)}
	served := http.Handler(b.server)
	api = &served
	return b
}

// get loads a page.
func (b *browser) get(path string, header ...string) int {
	return b.send(http.MethodGet, path, nil, header...)
}

// post sends a form of the last page, as a browser does.
func (b *browser) post(path string, form url.Values, header ...string) int {
	if csrf := regexp.MustCompile(`name="csrf" value="([A-Z0-9]+)"`).FindStringSubmatch(b.page); csrf != nil && !form.Has("csrf") {
		form.Set("csrf", csrf[1])
	}
	return b.send(http.MethodPost, path, form, header...)
}

func (b *browser) send(method, path string, form url.Values, header ...string) int {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if b.cookie != "" {
		r.Header.Set("Cookie", b.cookie)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	b.page, b.header, b.cookies = string(body), resp.Header, resp.Cookies()
	if !strings.Contains(resp.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		b.t.Errorf("%s %s: no policy in %v", method, path, resp.Header)
	}
	return resp.StatusCode
}

// signIn begins a session.
func (b *browser) signIn(token string) int {
	b.t.Helper()
	status := b.send(http.MethodPost, "/sign-in", url.Values{"token": {token}})
	for _, c := range b.cookies {
		b.cookie = c.Name + "=" + c.Value
	}
	return status
}

// TestSignIn: a token becomes a session in a cookie that scripts and other sites do not
// get, and signing out ends it.
// spec: [C15.5]
func TestSignIn(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	if b.get("/") != http.StatusSeeOther || b.header.Get("Location") != "/sign-in" {
		t.Errorf("without a session: %v", b.header)
	}
	if b.get("/p/shop/v/pr-7?request=a") != http.StatusSeeOther || b.header.Get("Location") != "/sign-in?next=%2Fp%2Fshop%2Fv%2Fpr-7%3Frequest%3Da" {
		t.Errorf("without a session: %v", b.header)
	}
	for _, token := range []string{"", "unknown", deployToken} {
		if b.signIn(token) != http.StatusUnauthorized || b.cookie != "" {
			t.Errorf("token %q: %s %v", token, b.page, b.cookies)
		}
	}
	if b.signIn(adminToken) != http.StatusSeeOther || len(b.cookies) != 1 {
		t.Fatalf("%v %s", b.header, b.page)
	}
	if c := b.cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || strings.Contains(c.Value, adminToken) || c.Path != "/" || c.Domain != "" {
		t.Errorf("%+v", c)
	}
	if b.get("/") != http.StatusOK || b.get("/projects") != http.StatusOK || strings.Contains(b.page, adminToken) {
		t.Errorf("%s", b.page)
	}
	if b.post("/sign-out", url.Values{"csrf": {"forged"}}) != http.StatusForbidden || b.get("/") != http.StatusOK {
		t.Error("a forged form signed out")
	}
	if b.post("/sign-out", url.Values{}) != http.StatusSeeOther || b.get("/") != http.StatusSeeOther {
		t.Error("the session is there after signing out")
	}
}

// TestSecureCookie: behind https the cookie has the prefix that binds it to the host.
func TestSecureCookie(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	status := b.send(http.MethodPost, "/sign-in", url.Values{"token": {adminToken}}, "X-Forwarded-Proto", "https")
	if status != http.StatusSeeOther || len(b.cookies) != 1 || !b.cookies[0].Secure || !strings.HasPrefix(b.cookies[0].Name, "__Host-") {
		t.Errorf("%d %+v", status, b.cookies)
	}
}

// TestSignInIsLimited: after ten failures a client waits, and the right token waits too.
func TestSignInIsLimited(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	for range 10 {
		if got := b.signIn("wrong"); got != http.StatusUnauthorized {
			t.Fatal(got)
		}
	}
	if got := b.signIn(adminToken); got != http.StatusTooManyRequests || b.cookie != "" {
		t.Errorf("%d %s", got, b.cookie)
	}
	// A one-time address has no such limit, nor have other clients of a proxy.
	path, _ := b.server.Pages.Ticket(adminToken)
	if got := b.get(path); got != http.StatusSeeOther {
		t.Errorf("a ticket: %d %s", got, b.page)
	}
}

// TestSignInIsLimitedBehindAProxy: a client that guesses tokens through a proxy keeps no other one out.
func TestSignInIsLimitedBehindAProxy(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	sign := func(token, from string) int {
		return b.send(http.MethodPost, "/sign-in", url.Values{"token": {token}}, "X-Forwarded-For", from)
	}
	for range 10 {
		if got := sign("wrong", "6.6.6.6, 2001:db8:0:1::7"); got != http.StatusUnauthorized {
			t.Fatal(got)
		}
	}
	for from, want := range map[string]int{"203.0.113.9": http.StatusSeeOther, "2001:db8:0:1::8": http.StatusTooManyRequests, "2001:db8:0:2::8": http.StatusSeeOther} {
		if got := sign(adminToken, from); got != want {
			t.Errorf("from %s: %d", from, got)
		}
	}
}

// TestTicketsAreForPeople: what looks at a link, and a page of another site, does not use a ticket up.
func TestTicketsAreForPeople(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	path, _ := b.server.Pages.Ticket(adminToken)
	if got := b.send(http.MethodHead, path, nil, "Sec-Fetch-Site", "none"); got != http.StatusOK || len(b.cookies) > 0 {
		t.Errorf("HEAD: %d %v", got, b.cookies)
	}
	for _, site := range []string{"cross-site", "same-site", ""} {
		if got := b.get(path, "Sec-Fetch-Site", site); got != http.StatusOK || len(b.cookies) > 0 || !strings.Contains(b.page, `name="ticket"`) {
			t.Errorf("%q: %d %v %s", site, got, b.cookies, b.page)
		}
	}
	form := url.Values{"ticket": {strings.TrimPrefix(path, "/sign-in?ticket=")}, "next": {"/projects"}}
	if got := b.send(http.MethodPost, "/sign-in", form, "Sec-Fetch-Site", "cross-site"); got != http.StatusForbidden || len(b.cookies) > 0 {
		t.Errorf("a form of another site: %d %v", got, b.cookies)
	}
	if got := b.send(http.MethodPost, "/sign-in", form); got != http.StatusSeeOther || len(b.cookies) != 1 || b.header.Get("Location") != "/projects" {
		t.Errorf("the button: %d %v %s", got, b.header, b.page)
	}
	if got := b.send(http.MethodPost, "/sign-in", form); got != http.StatusUnauthorized {
		t.Errorf("again: %d", got)
	}
}

// TestNextStaysHere: the page after the sign-in is one of this site.
func TestNextStaysHere(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	for next, want := range map[string]string{
		"/p/shop?q=a": "/p/shop?q=a", "//evil.example": "/", "https://evil.example": "/", `/\evil.example`: "/", "javascript:alert(1)": "/", "": "/",
		"/\t/evil.example": "/", "/sign-in?next=/": "/",
	} {
		b.send(http.MethodPost, "/sign-in", url.Values{"token": {adminToken}, "next": {next}})
		if got := b.header.Get("Location"); got != want {
			t.Errorf("next %q: %q", next, got)
		}
	}
}

// TestForgedChange: a change needs the form's token and the origin of the dashboard.
func TestForgedChange(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	b.signIn(adminToken)
	b.get("/projects")
	mine := b.page
	for name, send := range map[string]func() int{
		"without the token": func() int { return b.post("/projects", url.Values{"id": {"evil"}, "csrf": {""}}) },
		"a wrong token":     func() int { return b.post("/projects", url.Values{"id": {"evil"}, "csrf": {"AAAA"}}) },
		"another site":      func() int { return b.post("/projects", url.Values{"id": {"evil"}}, "Sec-Fetch-Site", "cross-site") },
		"a sibling host":    func() int { return b.post("/projects", url.Values{"id": {"evil"}}, "Sec-Fetch-Site", "same-site") },
		"an old browser": func() int {
			return b.post("/projects", url.Values{"id": {"evil"}}, "Sec-Fetch-Site", "", "Origin", "https://evil.example")
		},
	} {
		b.page = mine
		if got := send(); got != http.StatusForbidden {
			t.Errorf("%s: %d", name, got)
		}
	}
	b.page = mine
	if got := b.post("/projects", url.Values{"id": {"shop"}}); got != http.StatusSeeOther || b.header.Get("Location") != "/p/shop" {
		t.Errorf("%d %v %s", got, b.header, b.page)
	}
	if b.get("/p/shop") != http.StatusOK || !strings.Contains(b.page, "Project shop created.") {
		t.Errorf("%s", b.page)
	}
	h := b.do(request{method: "GET", path: "/v1/projects/evil"})
	h.wantProblem(http.StatusNotFound, "project_not_found")
}

// TestReadOnlyDashboard: a token that reads sees no buttons, and its changes are refused.
// spec: [C15.11]
func TestReadOnlyDashboard(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	b.project("shop")
	b.ready("shop", "v1")
	b.signIn("token-of-team")
	for _, path := range []string{"/", "/projects", "/p/shop", "/p/shop/v/v1", "/p/shop/tree", "/p/shop/v/v1/env?reveal", "/p/shop/v/v1/process", "/activity", "/audit", "/server", "/server/routes", "/server/nodes", "/server/gateways", "/server/leases"} {
		if got := b.get(path); got != http.StatusOK || strings.Count(b.page, "<form method") != 1 || !strings.Contains(b.page, "read only") {
			t.Errorf("%s: %d %s", path, got, b.page)
		}
	}
	if got := b.get("/p/shop/v/v1/data"); got != http.StatusForbidden {
		t.Errorf("%d %s", got, b.page)
	}
	if got := b.post("/projects", url.Values{"id": {"blog"}}); got != http.StatusForbidden {
		t.Errorf("%d %s", got, b.page)
	}
}

// TestPagesAndAPI: what clients of the API get from the port is as without the dashboard,
// and the session is no credential of the API.
func TestPagesAndAPI(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	b.signIn(adminToken)
	b.do(request{method: "GET", path: "/", token: "none"}).wantProblem(http.StatusNotFound, "path_not_found")
	b.do(request{method: "GET", path: "/projects"}).wantProblem(http.StatusNotFound, "path_not_found")
	header := http.Header{"Cookie": {b.cookie}, "Accept": {"text/html"}}
	b.do(request{method: "GET", path: "/v1/projects", token: "none", header: header}).wantProblem(http.StatusUnauthorized, "unauthorized")
	if b.get("/no/such/page") != http.StatusNotFound || b.get("/p/none") != http.StatusNotFound || b.get("/-/none.js") != http.StatusNotFound {
		t.Error("an unknown page is found")
	}
	if b.get("/p/shop", "Cookie", "", "Sec-Fetch-Site", "cross-site") != http.StatusOK || !strings.Contains(b.page, `content="0;url=/p/shop"`) {
		t.Errorf("a link on another site: %s", b.page)
	}
}

// TestRevokedToken: a session ends with its token.
func TestRevokedToken(t *testing.T) {
	t.Parallel()
	valid := true
	b := startPages(t, func(d *httpapi.Deps) {
		d.Tokens.Named = func() []svc.Token {
			if !valid {
				return nil
			}
			return []svc.Token{{Name: "ops", Role: svc.RoleAdmin, Hash: sha256.Sum256([]byte("token-of-ops"))}}
		}
	})
	b.signIn("token-of-ops")
	if b.get("/") != http.StatusOK {
		t.Fatal(b.page)
	}
	valid = false
	if b.get("/") != http.StatusSeeOther || !strings.HasPrefix(b.header.Get("Location"), "/sign-in") {
		t.Errorf("%v %s", b.header, b.page)
	}
}

// TestTicket: an address from the API signs in once, with the role of its token.
func TestTicket(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	b.project("shop")
	b.ready("shop", "v1")
	const path = "/v1/dashboard/tickets"
	b.do(request{method: "POST", path: path, token: "none"}).wantProblem(http.StatusUnauthorized, "unauthorized")
	b.do(request{method: "POST", path: path, token: deployToken}).wantProblem(http.StatusForbidden, "forbidden")
	for _, token := range []string{"", "token-of-team"} {
		b.cookie = ""
		ticket := decode[api.DashboardTicket](b.do(request{method: "POST", path: path, token: token}).want(http.StatusCreated))
		address := strings.TrimPrefix(ticket.URL, b.url)
		if b.get(address+"&next=/p/shop") != http.StatusSeeOther || b.header.Get("Location") != "/p/shop" || len(b.cookies) != 1 {
			t.Fatalf("%s: %v %s", address, b.header, b.page)
		}
		b.cookie = b.cookies[0].Name + "=" + b.cookies[0].Value
		if b.get("/p/shop/v/v1") != http.StatusOK || strings.Contains(b.page, "read only") != (token != "") {
			t.Errorf("%q: %s", token, b.page)
		}
		if b.get(address, "Cookie", "") != http.StatusUnauthorized {
			t.Error("the address worked twice")
		}
	}
}

// TestActions: the buttons of a version do what they say, by the API, and are in its audit
// record; a promote is refused when production is not what the plan showed.
func TestActions(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	b.project("shop")
	b.ready("shop", "v1")
	b.ready("shop", "v2")
	b.signIn(adminToken)
	if b.get("/p/shop/v/v2/promote") != http.StatusOK || !strings.Contains(b.page, "Promote v2 of shop") {
		t.Fatal(b.page)
	}
	plan := b.page
	if got := b.post("/p/shop/v/v2/promote", url.Values{"expected": {"other"}}); got != http.StatusPreconditionFailed && got != http.StatusConflict {
		t.Errorf("another production: %d %s", got, b.page)
	}
	b.page = plan
	expected := regexp.MustCompile(`name="expected" value="([^"]*)"`).FindStringSubmatch(plan)
	if got := b.post("/p/shop/v/v2/promote", url.Values{"expected": {expected[1]}}); got != http.StatusSeeOther {
		t.Errorf("promote: %d %s", got, b.page)
	}
	b.get("/p/shop/v/v1")
	if !strings.Contains(b.page, ">Pin<") || b.post("/p/shop/v/v1/do/pin", url.Values{}) != http.StatusSeeOther {
		t.Errorf("pin: %s", b.page)
	}
	if b.get("/p/shop/v/v1"); !strings.Contains(b.page, "shop/v1 pinned.") || !strings.Contains(b.page, ">Unpin<") {
		t.Errorf("after the pin: %s", b.page)
	}
	if _, list := b.records("?action=pinVersion"); len(list) != 1 || list[0].Actor.Name != "dashboard" || list[0].Actor.Client != "127.0.0.1" {
		t.Errorf("%+v", list)
	}
	b.get("/p/shop/v/v1/destroy")
	if got := b.post("/p/shop/v/v1/destroy", url.Values{"id": {"v2"}}); got != http.StatusOK || !strings.Contains(b.page, "This is another id.") {
		t.Errorf("destroy with another id: %d %s", got, b.page)
	}
	if got := b.post("/p/shop/v/v1/destroy", url.Values{"id": {"v1"}}); got != http.StatusSeeOther || b.header.Get("Location") != "/p/shop" {
		t.Errorf("destroy: %d %s", got, b.page)
	}
	b.post("/p/shop/v/v1/do/explode", url.Values{})
}

// TestRollbackIsOffered: the pages offer a rollback when production replaced a version, and
// say that there is nothing to roll back to otherwise.
func TestRollbackIsOffered(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	b.project("shop")
	b.ready("shop", "v1")
	b.ready("shop", "v2")
	b.signIn(adminToken)
	for i, production := range []string{"v1", "v2"} {
		b.do(request{method: "POST", path: "/v1/projects/shop/versions/" + production + "/promote"}).want(202)
		for _, page := range []string{"/p/shop", "/p/shop/v/" + production, "/p/shop/v/" + production + "/logs"} {
			if b.get(page) != http.StatusOK || strings.Contains(b.page, ">Roll back to v1 with its own data<") != (i == 1) {
				t.Errorf("%s of promotion %d: %s", page, i+1, b.page)
			}
		}
		want := []int{http.StatusConflict, http.StatusOK}[i]
		if got := b.get("/p/shop/rollback"); got != want || (i == 0) != strings.Contains(b.page, "there is nothing to roll back to") {
			t.Errorf("promotion %d: %d %s", i+1, got, b.page)
		}
	}
	if b.get("/p/shop/v/v1"); strings.Contains(b.page, ">Roll back to") {
		t.Error("offered beside a version that is not production")
	}
	b.signIn("token-of-team")
	if b.get("/p/shop"); strings.Contains(b.page, ">Roll back to") {
		t.Error("offered to a token that reads")
	}
}

// TestBaseDomain: the dashboard shows the base domain of the server, and knows no other.
// spec: [C16.9]
func TestBaseDomain(t *testing.T) {
	t.Parallel()
	ingress, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "apps.example"})
	if err != nil {
		t.Fatal(err)
	}
	b := startPages(t, func(d *httpapi.Deps) { d.Ingress = ingress })
	b.project("shop")
	b.ready("shop", "v1")
	b.signIn(adminToken)
	if b.get("/server") != http.StatusOK || !strings.Contains(b.page, `id="base-domain">apps.example<`) {
		t.Errorf("%s", b.page)
	}
	if b.get("/p/shop/v/v1") != http.StatusOK || !strings.Contains(b.page, "http://v1.shop.apps.example") {
		t.Errorf("%s", b.page)
	}
}

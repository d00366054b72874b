package httpapi_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/pkg/api"
)

// ticket creates a version and returns its poll ticket.
func (h *harness) ticket(project, id string) string {
	h.t.Helper()
	accepted := decode[api.VersionAccepted](h.do(request{
		method: "POST", path: "/v1/projects/" + project + "/versions", token: deployToken, body: api.CreateVersion{ID: id, Env: map[string]string{"KEY": "hunter2"}},
	}).want(202))
	if t := accepted.PollTicket; t == nil || t.Token == "" || !t.ExpiresAt.After(time.Now()) {
		h.t.Fatalf("poll ticket %+v", t)
	}
	return accepted.PollTicket.Token
}

// TestPollTicket: the ticket of a create reads that version, and nothing else.
// spec: [C15.5]
func TestPollTicket(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	first, second := h.ticket("shop", "v-1"), h.ticket("shop", "v-2")
	v := decode[api.Version](h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-1", token: first}).want(200))
	if v.ID != "v-1" || v.Env["KEY"] != "(hidden, 7 bytes)" {
		t.Errorf("got %+v", v)
	}
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-1/data/diff", token: first}).want(200)
	for name, rq := range map[string]request{
		"another version": {method: "GET", path: "/v1/projects/shop/versions/v-2"},
		"its values":      {method: "GET", path: "/v1/projects/shop/versions/v-1?reveal=true"},
		"its logs":        {method: "GET", path: "/v1/projects/shop/versions/v-1/logs"},
		"its rows":        {method: "GET", path: "/v1/projects/shop/versions/v-1/data/diff?rows=true"},
		"another's data":  {method: "GET", path: "/v1/projects/shop/versions/v-1/data/diff?with=v-2"},
		"another's diff":  {method: "GET", path: "/v1/projects/shop/versions/v-2/data/diff"},
		"all of its data": {method: "GET", path: "/v1/projects/shop/versions/v-1/data/export"},
		"the list":        {method: "GET", path: "/v1/projects/shop/versions"},
		"destroying it":   {method: "DELETE", path: "/v1/projects/shop/versions/v-1"},
		"promoting it":    {method: "POST", path: "/v1/projects/shop/versions/v-1/promote"},
		"creating":        {method: "POST", path: "/v1/projects/shop/versions", body: api.CreateVersion{ID: "v-3"}},
	} {
		rq.token = first
		if p := h.do(rq).wantProblem(403, "forbidden"); strings.Contains(p.Detail, "v-2") {
			t.Errorf("%s: %s", name, p.Detail)
		}
	}
	claim := strings.Split(second, ".")
	signature := strings.Split(first, ".")[2]
	for name, token := range map[string]string{
		"another version's claim": claim[0] + "." + claim[1] + "." + signature,
		"no signature":            claim[0] + "." + claim[1] + ".",
		"no claim":                "poll.",
		"an upload ticket":        claim[1] + "." + claim[2],
	} {
		if code := h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-2", token: token}).StatusCode; code != 401 {
			t.Errorf("%s: got %d", name, code)
		}
	}
	other := start(t, func(d *httpapi.Deps) { d.TicketKey = "another key" })
	other.project("shop")
	other.version("shop", "v-1")
	other.do(request{method: "GET", path: "/v1/projects/shop/versions/v-1", token: first}).wantProblem(401, "unauthorized")
}

func TestReveal(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ticket("shop", "v-1")
	for query, want := range map[string]string{"": "(hidden, 7 bytes)", "?reveal=false": "(hidden, 7 bytes)", "?reveal=true": "hunter2"} {
		v := decode[api.Version](h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-1" + query}).want(200))
		if v.Env["KEY"] != want {
			t.Errorf("%q: %v", query, v.Env)
		}
	}
	for _, path := range []string{"/v1/projects/shop/versions", "/v1/projects/shop?include=versions"} {
		if body := string(h.do(request{method: "GET", path: path}).want(200).body); strings.Contains(body, "hunter2") {
			t.Errorf("%s: %s", path, body)
		}
	}
}

func TestPollTicketExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		check := httpapi.CheckTicket("k", "shop", "v-1")
		time.Sleep(24 * time.Hour)
		if expired, ok := check(); expired || !ok {
			t.Errorf("after 24 hours: expired %t, valid %t", expired, ok)
		}
		time.Sleep(time.Second)
		if expired, ok := check(); !expired || !ok {
			t.Errorf("later: expired %t, valid %t", expired, ok)
		}
	})
}

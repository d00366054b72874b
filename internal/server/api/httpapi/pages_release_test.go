package httpapi_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// TestReleasePages: the dialog of a release has its plan, the release runs over the API, and the
// pages say what it did.
func TestReleasePages(t *testing.T) {
	t.Parallel()
	b := startPages(t)
	b.project("shop")
	b.ready("shop", "v-1")
	b.ready("shop", "check")
	b.signIn(adminToken)
	if b.get("/p/shop/v/check") != http.StatusOK || strings.Contains(b.page, ">Release on") || !strings.Contains(b.page, ">Promote to production<") {
		t.Errorf("without a production: %s", b.page)
	}
	b.do(request{method: "POST", path: "/v1/projects/shop/versions/v-1/promote"}).want(202)
	b.wantPage("/p/shop/v/check", ">Release on the data of v-1<", ">Promote with its own data<")
	b.wantPage("/p/shop/v/check/promote", `class="stays busy"`, "D1 main: rows of orders", "Leave these writes behind in v-1", "svcctl data export shop/v-1 --since-cut", `href="/p/shop/v/check/release"`)
	b.wantPage("/p/shop/v/check/release", "300 ms", "main/0002_total.sql", "2 messages, 1 workflow instance", "Stays in the candidate")
	if expected := regexp.MustCompile(`name="expected" value="([^"]*)"`).FindStringSubmatch(b.page); expected == nil || expected[1] != "v-1" {
		t.Errorf("%v in %s", expected, b.page)
	}
	if got := b.post("/p/shop/v/check/release", url.Values{"expected": {"v-1"}, "id": {" v-2 "}, "reason": {"monday"}}); got != http.StatusSeeOther || b.header.Get("Location") != "/p/shop" {
		t.Fatalf("%d %s", got, b.page)
	}
	b.wantPage("/p/shop", "v-2 is production: released check as v-2.")
	b.wantPage("/p/shop/v/v-2", "Released from", "released check as v-2")
	b.wantPage("/p/shop/promotions", "release", "monday")
	b.signIn("token-of-team")
	if b.get("/p/shop/v/check"); strings.Contains(b.page, ">Release on") {
		t.Error("offered to a token that reads")
	}
	if got := b.post("/p/shop/v/check/release", url.Values{}); got != http.StatusForbidden {
		t.Errorf("%d %s", got, b.page)
	}
}

// wantPage loads a page and fails the test unless it has all texts.
func (b *browser) wantPage(path string, texts ...string) {
	b.t.Helper()
	if got := b.get(path); got != http.StatusOK {
		b.t.Errorf("%s: %d %s", path, got, b.page)
	}
	for _, text := range texts {
		if !strings.Contains(b.page, text) {
			b.t.Errorf("%s lacks %q: %s", path, text, b.page)
		}
	}
}

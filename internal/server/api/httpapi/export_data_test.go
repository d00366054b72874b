package httpapi_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// exported returns the records of an export as the SDK reads them.
func exported(t *testing.T, url string, o client.ExportOptions) (records []api.DataExportRecord, err error) {
	t.Helper()
	c, err := client.New(url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range c.ExportData(t.Context(), "shop", "v-1", o) {
		if err != nil {
			return records, err
		}
		records = append(records, r)
	}
	return records, nil
}

// TestExportData: the records of an export, by the API and by the SDK.
func TestExportData(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v-1")
	const path = "/v1/projects/shop/versions/v-1/data/export"
	got := h.do(request{method: "GET", path: path + "?since_cut=true&against=v-2"}).want(200)
	if d := cmp.Diff([]string{
		`{"against_version_id":"v-2","common_version_id":"v-1","forked_at":"1970-01-01T00:00:01.000Z","kind":"start","version_id":"v-1"}`,
		`{"kind":"row","op":"insert","resource":"main","row":{"id":1},"sql":"INSERT","table":"orders","values":{"id":1,"what":"\u003ca\u003e"}}`,
		`{"data":"/w==","key":"k","kind":"body","offset":4,"resource":"files"}`,
	}, strings.Split(string(got.body), "\n")[:3]); d != "" {
		t.Error(d)
	}
	if kind := got.Header.Get("Content-Type"); kind != "application/jsonl" {
		t.Errorf("content type %q", kind)
	}
	records, err := exported(t, h.url, client.ExportOptions{})
	if err != nil || len(records) != 4 || records[0].Reason != "unrelated" || string(records[2].Data) != "\xff" || records[3].Written.Keys.Inserted != 1 {
		t.Errorf("got %+v, %v", records, err)
	}
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-9/data/export"}).wantProblem(404, "version_not_found")
	h.do(request{method: "GET", path: path + "?since_cut=maybe", outside: true}).wantProblem(400, "invalid_parameter")
	h.do(request{method: "GET", path: path + "?cut=true", outside: true}).wantProblem(400, "unknown_parameter")
	h.do(request{method: "GET", path: path, token: deployToken}).wantProblem(403, "forbidden")
}

// TestExportDataRefused: an error before the first record is the answer.
func TestExportDataRefused(t *testing.T) {
	t.Parallel()
	h := start(t)
	for code, kind := range map[string]svc.Kind{
		svc.CodeExportIncomplete: svc.Unavailable, svc.CodeNoProduction: svc.Conflict, svc.CodeProjectNotFound: svc.NotFound,
		svc.CodeVersionDestroyed: svc.Gone, svc.CodeVersionFailed: svc.Conflict, svc.CodeVersionNotReady: svc.Conflict,
	} {
		h.fakes.fail(svc.Errorf(kind, code, "refused"))
		if records, err := exported(t, h.url, client.ExportOptions{}); client.CodeOf(err) != code || records != nil {
			t.Errorf("%s: %+v, %v", code, records, err)
		}
	}
}

// TestExportDataIncomplete: an error after the first record is the last record, and for the
// SDK an error; so is an export without a last record.
func TestExportDataIncomplete(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v-1")
	got := h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-1/data/export?since_cut=true&against=late"}).want(200)
	lines := strings.Split(strings.TrimSpace(string(got.body)), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, `{"kind":"error","problem":{"code":"export_incomplete"`) || !strings.Contains(last, got.Header.Get("X-Request-Id")) {
		t.Errorf("last record %s", last)
	}
	records, err := exported(t, h.url, client.ExportOptions{SinceCut: true, Against: "late"})
	if client.CodeOf(err) != "export_incomplete" || len(records) != 3 {
		t.Errorf("got %+v, %v", records, err)
	}
	for name, body := range map[string]string{"cut": `{"kind":"start"}` + "\n" + `{"kind":"ro`, "short": `{"kind":"start"}` + "\n"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/jsonl")
			_, _ = w.Write([]byte(body))
		}))
		records, err := exported(t, server.URL, client.ExportOptions{})
		server.Close()
		if !errors.Is(err, client.ErrIncomplete) || len(records) != 1 {
			t.Errorf("%s: %+v, %v", name, records, err)
		}
	}
}

// TestDiffData: the records of a diff, by the API and by the SDK.
func TestDiffData(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v-1")
	const path = "/v1/projects/shop/versions/v-1/data/diff"
	got := h.do(request{method: "GET", path: path + "?with=v-2&rows=true&database=main&table=orders&full=true"}).want(200)
	if d := cmp.Diff([]string{
		`{"against_version_id":"v-2","common_version_id":"v-1","kind":"start","version_id":"v-1"}`,
		`{"kind":"row","op":"update","resource":"main","table":"orders","values":{"a":2},"was":{"a":1}}`,
		`{"counts":{"at_least":false,"deleted":0,"inserted":0,"updated":1},"kind":"count","of":"row","resource":"main","table":"orders"}`,
		`{"kind":"end"}`, "",
	}, strings.Split(string(got.body), "\n")); d != "" {
		t.Error(d)
	}
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range c.DiffData(t.Context(), "shop", "v-1", client.DiffOptions{With: "v-2"}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 4 {
		t.Errorf("%d records", n)
	}
	h.do(request{method: "GET", path: path + "?against=v-2", outside: true}).wantProblem(400, "unknown_parameter")
	h.do(request{method: "GET", path: "/v1/projects/shop/versions/v-9/data/diff"}).wantProblem(404, "version_not_found")
	h.do(request{method: "GET", path: path + "?with=v-2", token: deployToken}).wantProblem(403, "forbidden")
}

// TestDiffDataRefused: an error before the first record of a diff is the answer.
func TestDiffDataRefused(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v-1")
	const path = "/v1/projects/shop/versions/v-1/data/diff"
	for code, want := range map[string]struct {
		kind   svc.Kind
		status int
	}{
		svc.CodeDiffTooLarge: {svc.Conflict, 409}, svc.CodeExportIncomplete: {svc.Unavailable, 503}, svc.CodeVersionDestroyed: {svc.Gone, 410},
		svc.CodeVersionFailed: {svc.Conflict, 409}, svc.CodeVersionNotReady: {svc.Conflict, 409},
	} {
		h.fakes.fail(svc.Errorf(want.kind, code, "refused").After(time.Second))
		h.do(request{method: "GET", path: path}).wantProblem(want.status, code)
	}
	h.do(request{method: "GET", path: path + "?rows=maybe", outside: true}).wantProblem(400, "invalid_parameter")
}

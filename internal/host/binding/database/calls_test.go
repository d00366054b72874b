package database_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// calls is the body of a request that makes a call of each of texts.
func calls(t *testing.T, texts ...string) string {
	t.Helper()
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = map[string]any{"statements": []any{map[string]any{"sql": text}}}
	}
	body, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// Calls of one request run in their order, each as a transaction with an answer of its own.
func TestCallsInOrder(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	var got []string
	for _, r := range post(t.Context(), t, db, calls(t,
		"create table t(a)",
		"select count(*) from t",
		"insert into t values(1)",
		"select nope",
		"with x(a) as (values(2)) insert into t select a from x",
		"select max(a) from t",
		"insert into t values(3); select nope",
		"",
		"select 1; insert into t values(4)",
		"select group_concat(a) from t",
		"select total_changes() > 0",
	)) {
		got = append(got, strings.TrimSpace(r.Error+" "+fmt.Sprint(r.Results.Rows)))
	}
	want := []string{
		"[]", "[[0]]", "[]", "no such column: nope at offset 7: SQLITE_ERROR []", "[]", "[[2]]", "no such column: nope at offset 7: SQLITE_ERROR []",
		"No SQL statements detected. []", "[]", "[[1,2,4]]", "[[1]]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A short array is in the URL. What is no array there is answered like a body that is none.
func TestCallsInURL(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	for array, want := range map[string]string{
		url.PathEscape(calls(t, "select '100 % + ä?'", "select 2")): `["100 % + ä?"]`,
		"":    "cannot be read",
		"[1":  "cannot be read",
		"%zz": "cannot be read",
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/calls", nil)
		r.RequestURI += "?" + array
		db.ServeHTTP(w, r)
		if got := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(got, want) {
			t.Errorf("%q: %d %s", array, w.Code, got)
		}
	}
}

// A call that cannot be read does not affect the others.
func TestCallThatCannotBeRead(t *testing.T) {
	t.Parallel()
	got := post(t.Context(), t, open(t, t.TempDir()), `[{"statements":[{"sql":"select 1"}]},{"statements":[{"sql":5}]},{"statements":[{"sql":"select 2"}]}]`)
	if len(got) != 3 || !got[0].Success || !strings.Contains(got[1].Error, "the request cannot be read") || !got[2].Success {
		t.Errorf("got %+v", got)
	}
}

// Large answers are given in parts: the worker sends the rest of the calls again.
func TestAnswersInParts(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	large := "select replace(hex(zeroblob(500000)), '00', 'ab'), " + strings.Repeat("hex(zeroblob(900000)), ", 3) + "1"
	texts := make([]string, 10)
	for i := range texts {
		texts[i] = large
	}
	if got := post(t.Context(), t, db, calls(t, texts...)); len(got) == 0 || len(got) == len(texts) || !got[0].Success {
		t.Errorf("%d of %d calls were answered", len(got), len(texts))
	}
}

// A call that is stopped leaves the later ones unanswered, and nothing of them is done.
func TestCallsEndWithTheirRequest(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table t(a)")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const forever = "with recursive c(x) as (select 1 union all select x+1 from c) insert into t select x from c"
	answered := make(chan []reply)
	go func() {
		answered <- post(ctx, t, db, calls(t, "insert into t values(1)", forever, "insert into t values(2)"))
	}()
	svctest.Eventually(t, "the first call", func() bool { return rows(t, db, "select a from t") == "[[1]]" })
	cancel()
	if got := <-answered; len(got) > 2 {
		t.Errorf("%d calls were answered: %+v", len(got), got)
	}
	wantRows(t, db, "[[1]]", "select a from t")
}

// A slow read holds up neither reads nor writes of other requests, whatever the calls beside it.
func TestSlowReadHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	rows(t, db, "create table t(a)")
	ctx, cancel := context.WithCancel(t.Context())
	const forever = "with recursive c(x) as (select 1 union all select x+1 from c) select count(*) from c"
	done := make(chan []reply)
	go func() { done <- post(ctx, t, db, calls(t, "insert into t values(1)", forever)) }()
	svctest.Eventually(t, "the first call", func() bool { return rows(t, db, "select a from t") == "[[1]]" })
	rows(t, db, "insert into t values(2)")
	wantRows(t, db, "[[1] [2]]", "select a from t")
	cancel()
	if got := <-done; len(got) == 0 || !got[0].Success {
		t.Errorf("got %+v", got)
	}
}

package database_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/database"
)

// Whatever the body of a request: it is answered with a JSON array of at most as many answers
// as it has calls, no transaction or setting is left open, and the platform's names stay free.
func FuzzCalls(f *testing.F) {
	for _, body := range []string{
		`[{"statements":[{"sql":"select 1"}]}]`,
		`[{"objects":true,"at":"first-primary","statements":[{"sql":"insert into t values(?)","params":[[1,2]]},{"sql":"select * from t"}]}]`,
		`[{"statements":[{"sql":"select 1; -- x"}]},{"statements":[{"sql":5}]},{}]`,
		`[{"statements":[{"sql":"with x(a) as (values(1)) insert into t select a from x"}]}]`,
		`[{"statements":[{"sql":"alter table t rename to _cf_x"}]},{"statements":[{"sql":"begin"}]},{"statements":[{"sql":"pragma foreign_keys=off"}]}]`,
		`[{"statements":[{"sql":"update t set a=1 order by a limit 1 returning *"}]},{"statements":[{"sql":"select '"}]}]`,
		`[null]`, `[]`, `{`, ``, `[{"statements":null}]`, `[{"statements":[{"sql":"select ?1, ?3","params":[null,1e400,true]}]}]`,
	} {
		f.Add([]byte(body))
	}
	db, err := database.Kind{}.Open(f.Context(), bundle.Binding{Name: "DB", Kind: "database", Resource: "db"}, bindingtest.OpenVolumes(f, f.TempDir()))
	if err != nil {
		f.Fatal(err)
	}
	send := func(t *testing.T, body []byte) (answers []json.RawMessage) {
		t.Helper()
		w := httptest.NewRecorder()
		db.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/calls", bytes.NewReader(body)))
		if err := json.Unmarshal(w.Body.Bytes(), &answers); err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		return answers
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.Contains(bytes.ToLower(body), []byte("recursive")) {
			return // it may run until the time limit
		}
		answers := send(t, body)
		var calls []json.RawMessage
		if json.Unmarshal(body, &calls) == nil && len(answers) > len(calls) {
			t.Errorf("%d answers to %d calls", len(answers), len(calls))
		}
		const after = `[{"statements":[{"sql":"drop table if exists t"},{"sql":"create table t(a)"}]},{"statements":[{"sql":"select count(*) from sqlite_schema where name like '\\_cf\\_%' escape '\\'"}]}]`
		checks := send(t, []byte(after))
		if len(checks) != 2 || !bytes.Contains(checks[0], []byte(`"success":true`)) || !bytes.Contains(checks[1], []byte(`"rows":[[0]]`)) {
			t.Errorf("after %q: %s", body, checks)
		}
	})
}

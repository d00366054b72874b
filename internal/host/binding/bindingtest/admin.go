package bindingtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// Admin is the API's way to the data of bindings of one kind. An error is answered
// with the text "kind: code: detail: hint".
type Admin struct {
	Handler http.Handler
	t       testing.TB
}

// OpenAdmin opens new bindings with these names.
func OpenAdmin(t testing.TB, kind binding.Kind, names ...string) Admin {
	t.Helper()
	var list []bundle.Binding
	for _, name := range names {
		list = append(list, bundle.Binding{Name: name, Kind: kind.Name(), Resource: "resource-" + name})
	}
	set := OpenSet(t, OpenVolumes(t, t.TempDir()), []binding.Kind{kind}, list...)
	return Admin{t: t, Handler: set.Data(func(w http.ResponseWriter, _ *http.Request, err error) {
		e := svc.AsError(err)
		http.Error(w, fmt.Sprintf("%s: %s: %s: %s", e.Kind, e.Code, e.Detail, e.Hint), http.StatusTeapot)
	})}
}

// Do answers one request. headers are names and values in turn.
func (a Admin) Do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	a.t.Helper()
	r := httptest.NewRequestWithContext(a.t.Context(), method, path, strings.NewReader(body))
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	return w
}

// Want checks how the answer to a request without a body begins.
func (a Admin) Want(method, path, want string, headers ...string) {
	a.t.Helper()
	if got := strings.TrimSpace(a.Do(method, path, "", headers...).Body.String()); !strings.HasPrefix(got, want) {
		a.t.Errorf("%s %s: %s, want %s", method, path, got, want)
	}
}

package remote_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestArchiveSaysWhatWaits: the line about an archive has the work that waits for a wake.
func TestArchiveSaysWhatWaits(t *testing.T) {
	t.Parallel()
	for waiting, want := range map[string]string{
		``: "shop/v1 archived",
		`,"waiting":{"messages":3,"instances":0}`: "shop/v1 archived; 3 messages wait until it is woken",
		`,"waiting":{"messages":1,"instances":2}`: "shop/v1 archived; 1 message and 2 instances of workflows wait until it is woken",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"project_id":"shop","id":"v1","status":"archived"%s}`, waiting)
		}))
		t.Cleanup(server.Close)
		c, err := client.New(server.URL, client.Tokens{Admin: "token"}, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := remote.Open(t.Context(), c)
		t.Cleanup(r.Close)
		done, ok := r.Do(state.Action{Verb: state.Archive, Project: "shop", Version: "v1"})().(state.Done)
		if !ok || done.Err != nil || done.Note != want {
			t.Errorf("%q, %v; want %q", done.Note, done.Err, want)
		}
	}
}

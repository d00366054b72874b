package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestChanges: each change of data and variables sends these requests, and says this.
func TestChanges(t *testing.T) {
	t.Parallel()
	const at = "/v1/projects/shop/versions/v1"
	for _, tc := range []struct {
		verb       state.Verb
		arg        []string
		want, note string
	}{
		{state.SetVar, []string{"A", "2"}, `GET /env, PUT /env {"vars":{"A":"2","B":"1"}} if "e1"`, "A of shop/v1 set"},
		{state.UnsetVar, []string{"A"}, `GET /env, PUT /env {"vars":{"B":"1"}} if "e1"`, "A of shop/v1 unset"},
		{state.PutValue, []string{"KV", "k", "v"}, "GET /kv/KV/values/k, PUT /kv/KV/values/k?expiration=1800000000 v", "k of KV stored"},
		{state.DeleteValue, []string{"KV", "k"}, "DELETE /kv/KV/values/k", "k of KV deleted"},
		{state.PauseQueue, []string{"jobs"}, "POST /queues/jobs/pause", "jobs paused"},
		{state.ResumeQueue, []string{"jobs"}, "POST /queues/jobs/resume", "jobs resumed"},
		{state.Redrive, []string{"jobs"}, "POST /queues/jobs/redrive {}", "jobs: 3 dead messages are delivered again"},
		{state.Purge, []string{"jobs"}, "POST /queues/jobs/purge", "jobs: 4 messages deleted"},
		{state.PauseRun, []string{"W", "i"}, "POST /workflows/W/instances/i/pause", "i is paused"},
		{state.ResumeRun, []string{"W", "i"}, "POST /workflows/W/instances/i/resume", "i is paused"},
		{state.TerminateRun, []string{"W", "i"}, "POST /workflows/W/instances/i/terminate", "i is paused"},
	} {
		t.Run(string(tc.verb), func(t *testing.T) {
			t.Parallel()
			requests := make(chan string, 2)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/v1/events") {
					return
				}
				body, _ := io.ReadAll(r.Body)
				line := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), at)
				if len(body) > 0 {
					line += " " + strings.TrimSpace(string(body))
				}
				if match := r.Header.Get("If-Match"); match != "" {
					line += " if " + match
				}
				requests <- line
				w.Header().Set("ETag", `"e1"`)
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Svc-Kv-Expiration", "1800000000")
				_, _ = fmt.Fprint(w, `{"items":[{"key":"A","value":"1","source":"override"},{"key":"B","value":"1","source":"override"},{"key":"C","value":"1","source":"bundle"}],`+
					`"moved":3,"purged":4,"status":"paused"}`)
			}))
			t.Cleanup(server.Close)
			c, err := client.New(server.URL, client.Tokens{Admin: "token"}, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := remote.Open(t.Context(), c)
			t.Cleanup(r.Close)
			done, _ := r.Do(state.Action{Verb: tc.verb, Project: "shop", Version: "v1", Arg: state.JoinArg(tc.arg...)})().(state.Done)
			close(requests)
			var got []string
			for line := range requests {
				got = append(got, line)
			}
			if done.Err != nil || done.Note != tc.note || strings.Join(got, ", ") != tc.want {
				t.Errorf("%q, %v; sent %q", done.Note, done.Err, got)
			}
		})
	}
}

package client_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestRequests calls every method of Client with several arguments and compares the requests with
// testdata/requests.golden. It also checks those with valid arguments against the OpenAPI document.
func TestRequests(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	document := openDocument(t)
	for _, f := range fillers {
		c, sent := record(t, f.options)
		for method, call := range reflect.ValueOf(c).Methods() {
			switch method.Name {
			case "Server", "WithTicket", "ForWorker": // these send nothing
				continue
			}
			f.call(t, call)
			sent.print(&out, method.Name+", "+f.name, f.options)
			for _, r := range sent.take() {
				if f.conforms {
					document.check(t, method.Name, r)
				}
			}
		}
	}
	for _, title := range slices.Sorted(maps.Keys(others)) {
		c, sent := record(t, client.Options{})
		others[title](t.Context(), c)
		sent.print(&out, title, client.Options{})
	}
	svctest.Golden(t, "testdata/requests.golden", out.String())
}

// others are calls that depend on more than the types of the arguments.
var others = map[string]func(context.Context, *client.Client){
	"CreateVersion, ForWorker": func(ctx context.Context, c *client.Client) {
		_, _ = c.ForWorker("shop worker", true).CreateVersion(ctx, "shop", api.CreateVersion{}, "")
	},
	"Version, WithTicket": func(ctx context.Context, c *client.Client) {
		_, _ = c.WithTicket(api.PollTicket{Token: "ticket"}).Version(ctx, "shop", "v-1")
	},
	"Logs, production": func(ctx context.Context, c *client.Client) { _, _ = c.Logs(ctx, "a/b", "", 5) },
	"ReadEvents, no wait": func(ctx context.Context, c *client.Client) {
		_, _ = c.ReadEvents(ctx, client.EventQuery{Types: []string{"version", "env.changed"}})
	},
	"SearchVersions, many": func(ctx context.Context, c *client.Client) {
		pinned := false
		q := client.VersionQuery{Pinned: &pinned, Labels: []string{"team=a b", "x"}, Statuses: []api.VersionStatus{api.VersionStatusReady, api.VersionStatusFailed}}
		_, _ = c.SearchVersions(ctx, q, client.Page{})
	},
}

// recorder keeps requests instead of sending them. Its answer ends what polls or follows.
type recorder struct{ requests []sentRequest }

type sentRequest struct {
	*http.Request

	body string
}

func record(t *testing.T, o client.Options) (*client.Client, *recorder) {
	t.Helper()
	sent := &recorder{}
	o.HTTP = &http.Client{Transport: sent, Timeout: time.Hour}
	return connect(t, "http://server/below", o), sent
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := sentRequest{Request: req}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		sent.body = string(body)
	}
	r.requests = append(r.requests, sent)
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(`{"status":"ready"}`)),
	}, nil
}

func (r *recorder) take() []sentRequest {
	taken := r.requests
	r.requests = nil
	return taken
}

// print writes what was sent since the last take.
func (r *recorder) print(out io.Writer, title string, o client.Options) {
	fmt.Fprintf(out, "# %s\n", title)
	for _, sent := range r.requests {
		fmt.Fprintf(out, "%s %s\n", sent.Method, strings.TrimPrefix(sent.URL.String(), "http://server/below"))
		if _, limited := sent.Context().Deadline(); !limited {
			fmt.Fprintln(out, "  no time limit")
		}
		printHeaders(out, sent.Header, o)
		switch {
		case sent.Body == nil || sent.Body == http.NoBody:
		case utf8.ValidString(sent.body):
			fmt.Fprintf(out, "  (%d) %s\n", sent.ContentLength, sent.body)
		default:
			fmt.Fprintf(out, "  (%d) binary\n", sent.ContentLength)
		}
	}
	if len(r.requests) == 0 {
		fmt.Fprintln(out, "no request")
	}
}

// printHeaders leaves out what is the same in nearly all requests.
func printHeaders(out io.Writer, got http.Header, o client.Options) {
	common := map[string]string{
		"Accept": "application/json, application/problem+json", "Authorization": "Bearer " + tokens.Admin,
		"User-Agent": "svcctl-go", "Svc-Actor": o.Actor,
	}
	for _, name := range slices.Sorted(maps.Keys(common)) {
		if got.Get(name) == "" && common[name] != "" {
			fmt.Fprintf(out, "  no %s\n", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if value, ok := common[name]; !ok || !slices.Equal(got[name], []string{value}) {
			fmt.Fprintf(out, "  %s: %q\n", name, got[name])
		}
	}
}

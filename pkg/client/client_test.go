package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

var tokens = client.Tokens{Deploy: "deploy-secret", Admin: "admin-secret"}

// serve answers every call with h.
func serve(t *testing.T, h http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return connect(t, server.URL, client.Options{})
}

func connect(t *testing.T, server string, o client.Options) *client.Client {
	t.Helper()
	c, err := client.New(server, tokens, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func reply(w http.ResponseWriter, status int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	io.WriteString(w, body)
}

func TestNewRefusesWhatIsNoAddress(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "localhost:8790", "127.0.0.1:8790", "ftp://x", "http://", "://"} {
		if _, err := client.New(bad, tokens, client.Options{}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// spec: [C15.1]
func TestTokensByRole(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name          string
		tokens        client.Tokens
		create, admin string
	}{
		{"both", tokens, "Bearer deploy-secret", "Bearer admin-secret"},
		{"deploy only", client.Tokens{Deploy: "d"}, "Bearer d", "Bearer d"},
		{"admin only", client.Tokens{Admin: "a"}, "Bearer a", "Bearer a"},
		{"none", client.Tokens{}, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			sent := map[string]string{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				sent[r.Method+" "+r.URL.Path] = r.Header.Get("Authorization")
				mu.Unlock()
				reply(w, 200, "application/json", "{}")
			}))
			t.Cleanup(server.Close)
			c, err := client.New(server.URL+"/", tc.tokens, client.Options{UserAgent: "test"})
			if err != nil {
				t.Fatal(err)
			}
			_, createErr := c.CreateVersion(t.Context(), "p", api.CreateVersion{}, "")
			_, adminErr := c.Version(t.Context(), "p", "v")
			_, healthErr := c.Health(t.Context())
			if err := errors.Join(createErr, adminErr, healthErr); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if sent["POST /v1/projects/p/versions"] != tc.create || sent["GET /v1/projects/p/versions/v"] != tc.admin || sent["GET /v1/health"] != "" {
				t.Errorf("got %v", sent)
			}
		})
	}
	if text := fmt.Sprintf("%v %+v %#v", tokens, tokens, tokens); strings.Contains(text, "secret") {
		t.Errorf("tokens print as %s", text)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, contentType, body string
		status                  int
		code, text              string
	}{
		{
			"problem", "application/problem+json", `{"code":"version_not_ready","detail":"it is archived","hint":"wake it first","status":409}`,
			409, "version_not_ready", "it is archived: wake it first",
		},
		{
			"fields", "application/problem+json",
			`{"code":"invalid_id","detail":"2 fields","errors":[{"pointer":"/id","code":"invalid_id","detail":"bad"}]}`,
			422, "invalid_id", "2 fields; /id: bad",
		},
		{"proxy", "text/html", "<html>", 502, "", "the server answered 502"},
		{"other JSON", "application/json", `{"error":"x"}`, 500, "", "the server answered 500"},
		{"redirect", "text/html", "", 302, "", "the server answered 302"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.Header().Set("Location", "/elsewhere")
				reply(w, tc.status, tc.contentType, tc.body)
			})
			_, err := c.Project(t.Context(), "p")
			var e *client.Error
			if !errors.As(err, &e) || e.Status != tc.status || e.RetryAfter != 7*time.Second ||
				client.CodeOf(err) != tc.code || !strings.HasPrefix(err.Error(), tc.text) {
				t.Errorf("got %v", err)
			}
		})
	}
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, "text/html", "<html>") })
	if _, err := c.Project(t.Context(), "p"); err == nil || errors.Is(err, client.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}

func TestUnwellIsNoError(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 503, "application/json", `{"status":"degraded","code":"queue_full"}`)
	})
	if h, err := c.DeepHealth(t.Context()); err != nil || h.Code != "queue_full" {
		t.Errorf("got %+v, %v", h, err)
	}
}

func TestEveryPageIsRead(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("cursor") {
		case "":
			reply(w, 200, "application/json", `{"items":[{"id":"a"},{"id":"b"}],"next_cursor":"n"}`)
		case "n":
			reply(w, 200, "application/json", `{"items":[{"id":"c"}],"next_cursor":null}`)
		}
	})
	var ids []string
	for p, err := range c.AllProjects(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, p.ID)
	}
	if !slices.Equal(ids, []string{"a", "b", "c"}) {
		t.Errorf("got %v", ids)
	}
}

// A refused connection is tried again by reads only; nothing else is.
func TestOnlyReadsAreTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var dials atomic.Int32
		refuse := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			return nil, refused()
		}}}
		c := connect(t, "http://127.0.0.1:1", client.Options{HTTP: refuse})
		_, err := c.Project(t.Context(), "p")
		if !errors.Is(err, client.ErrUnreachable) || dials.Swap(0) != 4 {
			t.Errorf("got %v", err)
		}
		_, err = c.CreateVersion(t.Context(), "p", api.CreateVersion{}, "")
		if !errors.Is(err, client.ErrUnreachable) || dials.Load() != 1 {
			t.Errorf("got %v after %d dials", err, dials.Load())
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Project(cancelled, "p"); !errors.Is(err, context.Canceled) || errors.Is(err, client.ErrUnreachable) {
			t.Errorf("got %v", err)
		}
	})
}

// An archive may take as long as the service gives it, which is half an hour.
func TestArchiveTakesItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, "http://service", client.Options{HTTP: &http.Client{Timeout: time.Minute, Transport: late(31 * time.Minute)}})
		if v, err := c.Archive(t.Context(), "shop", "v-1"); err != nil || v.Status != api.VersionStatusArchived {
			t.Errorf("%s, %v", v.Status, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if _, err := c.Archive(ctx, "shop", "v-1"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, client.ErrUnreachable) {
			t.Error(err)
		}
	})
}

// late is a service that answers after so long.
type late time.Duration

func (d late) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(time.Duration(d)):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	body := io.NopCloser(strings.NewReader(`{"id":"v-1","project_id":"shop","status":"archived"}`))
	return &http.Response{StatusCode: http.StatusOK, Request: r, Body: body, Header: http.Header{"Content-Type": {"application/json"}}}, nil
}

func TestUpload(t *testing.T) {
	t.Parallel()
	var got struct {
		method, body, kind, authorization string
		length                            int64
	}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got.method, got.body, got.kind, got.authorization, got.length = r.Method, string(b), r.Header.Get("Content-Type"), r.Header.Get("Authorization"), r.ContentLength
		w.WriteHeader(http.StatusOK)
	})
	file := strings.NewReader("the bundle")
	file.Seek(4, io.SeekStart)
	var sent []int64
	to := api.Upload{Method: "PUT", URL: c.Server() + "/bucket/key?X-Amz-Signature=1", Headers: map[string]string{"Content-Type": "application/zstd"}}
	if err := c.Upload(t.Context(), to, file, func(n int64) { sent = append(sent, n) }); err != nil {
		t.Fatal(err)
	}
	if got.method != "PUT" || got.body != "the bundle" || got.kind != "application/zstd" || got.authorization != "" || got.length != 10 {
		t.Errorf("got %+v", got)
	}
	if len(sent) == 0 || sent[len(sent)-1] != 10 {
		t.Errorf("progress was %v", sent)
	}
	if err := c.Upload(t.Context(), to, strings.NewReader(""), nil); err != nil || got.length != 0 {
		t.Errorf("an empty bundle: %v, %d", err, got.length)
	}
	to.URL = "http://not-reachable.invalid/v1/uploads/ticket.signature" // a proxy changed the Host header
	if err := c.Upload(t.Context(), to, file, nil); err != nil || got.body != "the bundle" {
		t.Errorf("an address of the API under another name: %v", err)
	}
	refuse := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 409, "application/problem+json", `{"code":"already_uploaded"}`)
	})
	to.URL = refuse.Server()
	if err := c.Upload(t.Context(), to, file, nil); client.CodeOf(err) != "already_uploaded" {
		t.Errorf("got %v", err)
	}
}

// TestUploadAboveTheLimitOfAProxy: the error names the size, the proxy and its setting.
func TestUploadAboveTheLimitOfAProxy(t *testing.T) {
	t.Parallel()
	nginx := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Server", "nginx/1.22.1")
		reply(w, http.StatusRequestEntityTooLarge, "text/html", "<html>413 Request Entity Too Large</html>")
	})
	err := nginx.Upload(t.Context(), api.Upload{Method: "PUT", URL: nginx.Server()}, strings.NewReader("the bundle"), nil)
	if err == nil || !strings.Contains(err.Error(), "10 bytes") || !strings.Contains(err.Error(), "nginx/1.22.1") || !strings.Contains(err.Error(), "client_max_body_size") {
		t.Error(err)
	}
}

package httpapi_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestStreamsOfOneToken: a token that reads follows no more than its part of streams. Others follow.
func TestStreamsOfOneToken(t *testing.T) {
	t.Parallel()
	list := []svc.Token{{Name: "board", Role: svc.RoleRead, Hash: sha256.Sum256([]byte("token-of-board"))}, {Name: "wall", Role: svc.RoleRead, Hash: sha256.Sum256([]byte("token-of-wall"))}}
	h := start(t, func(d *httpapi.Deps) { d.Tokens.Named = func() []svc.Token { return list } })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	follow := func(token string) int {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultTransport.RoundTrip(r) //nolint:bodyclose // until cancel
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	for i := range 64 {
		if got := follow("token-of-board"); got != http.StatusOK {
			t.Fatalf("stream %d: %d", i, got)
		}
	}
	if got := follow("token-of-board"); got != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", got)
	}
	for _, token := range []string{"token-of-wall", adminToken} {
		if got := follow(token); got != http.StatusOK {
			t.Errorf("%s: %d", token, got)
		}
	}
	h.do(request{method: "GET", path: "/v1/events", token: "token-of-board"}).want(200)
	cancel()
	ctx = t.Context()
	svctest.Eventually(t, "the streams to end", func() bool {
		return follow("token-of-wall") == http.StatusOK && follow("token-of-board") == http.StatusOK
	})
}

// TestRefusedUploadAnswersAtOnce: a request that is refused is answered before its body, and does not
// keep its connection.
func TestRefusedUploadAnswersAtOnce(t *testing.T) {
	t.Parallel()
	h := start(t)
	for _, line := range []string{"PUT /v1/uploads/unknown", "POST /v1/projects"} {
		nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(h.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		_ = nc.SetDeadline(time.Now().Add(svctest.Patience))
		if _, err := io.WriteString(nc, line+" HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nslow"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		resp.Body.Close()
		if resp.StatusCode < 400 {
			t.Errorf("%s: %s", line, resp.Status)
		}
	}
}

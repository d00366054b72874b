package clientlimit_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func from(remote string, forwarded ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr, r.Header["X-Forwarded-For"] = remote, forwarded
	return r
}

func TestProxies(t *testing.T) {
	t.Parallel()
	own := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, tc := range []struct {
		trusted []netip.Prefix
		request *http.Request
		want    string
	}{
		{nil, from("127.0.0.1:9"), "127.0.0.1"},
		{nil, from("127.0.0.1:9", "203.0.113.9"), "203.0.113.9"},
		{nil, from("[::1]:9", "6.6.6.6, 2001:db8::1"), "2001:db8::1"},
		{nil, from("127.0.0.1:9", "6.6.6.6", "203.0.113.9"), "203.0.113.9"},
		{nil, from("192.0.2.1:9", "203.0.113.9"), "192.0.2.1"}, // not a proxy: it may say what it wants
		{nil, from("127.0.0.1:9", "203.0.113.9, nonsense"), "127.0.0.1"},
		{own, from("127.0.0.1:9", "203.0.113.9"), "127.0.0.1"},
		{own, from("10.0.0.1:9", "6.6.6.6, 203.0.113.9, 10.0.0.2"), "203.0.113.9"},
		{own, from("10.0.0.1:9", "::ffff:203.0.113.9"), "203.0.113.9"},
		{own, from("@", "203.0.113.9"), "invalid IP"},
	} {
		var p clientlimit.Proxies
		p.Set(tc.trusted)
		if got := p.Client(tc.request).String(); got != tc.want {
			t.Errorf("%v from %s %v: %s, want %s", tc.trusted, tc.request.RemoteAddr, tc.request.Header["X-Forwarded-For"], got, tc.want)
		}
	}
}

// TestPerClient: a client behind a proxy takes no more than its part of the requests.
func TestPerClient(t *testing.T) {
	t.Parallel()
	var p clientlimit.Proxies
	begun, proceed := make(chan struct{}), make(chan struct{})
	h := p.PerClient(2, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { begun <- struct{}{}; <-proceed }))
	ask := func(r *http.Request) <-chan int {
		done := make(chan int, 1)
		go func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			done <- w.Code
		}()
		return done
	}
	var running []<-chan int
	for _, r := range []*http.Request{from("127.0.0.1:1", "2001:db8::1"), from("127.0.0.1:2", "2001:db8::2"), from("127.0.0.1:3", "192.0.2.1"), from("127.0.0.1:4"), from("127.0.0.1:5"), from("127.0.0.1:6")} {
		running = append(running, ask(r))
		svctest.Wait(t, "the request begins", begun)
	}
	if code := <-ask(from("127.0.0.1:7", "2001:db8::3")); code != http.StatusServiceUnavailable {
		t.Errorf("the third request of one network: %d", code)
	}
	close(proceed)
	for _, done := range running {
		if code := <-done; code != http.StatusOK {
			t.Error(code)
		}
	}
	again := ask(from("127.0.0.1:7", "2001:db8::3"))
	svctest.Wait(t, "the request begins", begun)
	if code := <-again; code != http.StatusOK {
		t.Errorf("after the others: %d", code)
	}
}

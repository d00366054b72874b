package webhooks

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestSign compares a signature with the example of the standard.
func TestSign(t *testing.T) {
	t.Parallel()
	const secret, want = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	got := sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), secret)
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	one, two := secretOf([]byte("master"), "wh_1", 1), secretOf([]byte("master"), "wh_1", 2)
	if one == two || one == secretOf([]byte("master"), "wh_2", 1) || one == secretOf([]byte("other"), "wh_1", 1) {
		t.Error("two webhooks, generations or servers have one secret")
	}
	if both := sign("m", time.Now(), nil, two, one); len(strings.Fields(both)) != 2 {
		t.Errorf("after a rotation: %s", both)
	}
}

func send(t *testing.T, allowed []netip.Prefix, url string) svc.WebhookDelivery {
	t.Helper()
	s := &Service{deps: Deps{Master: []byte("m")}, client: newClient(allowed)}
	s.client.Timeout = 2 * time.Second
	d := svc.WebhookDelivery{ID: "msg_1", Body: "{}"}
	s.try(t.Context(), svc.Webhook{ID: "wh_1", URL: url, Generation: 1}, &d)
	return d
}

func loopback() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }

// TestPrivateAddresses: no spelling of a private address is reached, a name that resolves to one neither.
func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer receiver.Close()
	_, port, err := net.SplitHostPort(receiver.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "2130706433", "0x7f.1", "127.1", "169.254.169.254", "10.0.0.1", "[fd00::1]", "[fe80::1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "100.64.0.1", "[fec0::1]",
	} {
		d := send(t, nil, "http://"+host+":"+port+"/")
		if d.Delivered || d.Status != 0 || reached.Load() > 0 || d.Error == "" {
			t.Errorf("%s: %+v, reached %d", host, d, reached.Load())
		}
	}
	for address, want := range map[string]bool{
		"1.1.1.1": true, "2606:4700::1111": true, "8.8.8.8": true, "192.168.1.1": false, "198.18.0.1": false, "255.255.255.255": false, "224.0.0.1": false, "ff02::1": false, "2001:db8::1": false, "::ffff:10.0.0.1": false,
	} {
		if svc.IsPublicAddress(netip.MustParseAddr(address)) != want {
			t.Errorf("%s: public is %v", address, !want)
		}
	}
	if d := send(t, loopback(), receiver.URL); !d.Delivered || reached.Load() != 1 {
		t.Errorf("an allowed network: %+v", d)
	}
}

// TestRedirect: a receiver that redirects gets its answer recorded, and nothing is sent elsewhere.
func TestRedirect(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer inner.Close()
	outer := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusTemporaryRedirect))
	defer outer.Close()
	if d := send(t, loopback(), outer.URL); d.Status != http.StatusTemporaryRedirect || d.Delivered || reached.Load() != 0 {
		t.Errorf("%+v, reached %d", d, reached.Load())
	}
}

// TestAnswers: an answer is cut, and one that does not come ends the try without the address in the error.
func TestAnswers(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			_, _ = w.Write([]byte(strings.Repeat("x", 1<<20)))
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not noticed
		<-r.Context().Done()
	}))
	defer receiver.Close()
	if d := send(t, loopback(), receiver.URL+"/large"); len(d.Answer) != maxAnswer || !d.Delivered {
		t.Errorf("%d bytes of an answer", len(d.Answer))
	}
	if d := send(t, loopback(), receiver.URL+"/secret-path"); d.Delivered || !strings.Contains(d.Error, "no answer within") || strings.Contains(d.Error, "secret") {
		t.Errorf("%+v", d)
	}
}

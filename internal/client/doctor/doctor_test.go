package doctor_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/client/doctor"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// installation is a healthy one that a test breaks: a proxy with TLS in front of API and gateway.
type installation struct {
	doctor.Target

	apiStatus, bodyLimit int
	date                 time.Time
	seen                 string // what the gateway sees, "" for another server
	plain                bool   // without TLS
	refuses              bool   // handshakes: no certificate for the name
	short                bool   // a certificate for 13 hours, of which one is over
	addresses            map[string][]string
	lookup               error
}

// LookupHost implements doctor.Resolver: every host has one address, but those of addresses.
func (i *installation) LookupHost(_ context.Context, host string) ([]string, error) {
	if a := i.addresses[host]; a != nil {
		return a, nil
	}
	return []string{"127.0.0.1"}, i.lookup
}

// ServeHTTP is the proxy with what is behind it.
func (i *installation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", i.date.UTC().Format(http.TimeFormat))
	switch {
	case r.Method != http.MethodGet && i.bodyLimit > 0 && r.ContentLength > int64(i.bodyLimit):
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case strings.HasPrefix(r.URL.Path, "/v1/"):
		w.Header().Set("X-Request-Id", "x")
		w.WriteHeader(i.apiStatus)
	default:
		if i.seen != "" {
			seen := i.seen
			if r.Header.Get("Upgrade") == "websocket" {
				seen += " upgrade=websocket"
			}
			w.Header().Set("Svc-Seen", strings.TrimSuffix(seen, " none upgrade=websocket"))
		}
		w.WriteHeader(http.StatusNotFound)
	}
}

// examine starts a broken installation and returns what the named check finds.
func examine(t *testing.T, name string, fault func(*installation)) svc.Finding {
	t.Helper()
	i := &installation{apiStatus: http.StatusOK, date: time.Now(), seen: "proto=https client=127.0.0.1"}
	s := httptest.NewUnstartedServer(i)
	fault(i)
	if i.plain {
		s.Start()
	} else {
		if i.refuses {
			s.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, errors.New("no certificate") }}
		}
		authority := svctest.NewAuthority(t)
		if i.short {
			pair, err := tls.LoadX509KeyPair(authority.Write(t, t.TempDir(), "*.example.com"))
			if err != nil {
				t.Fatal(err)
			}
			s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		}
		s.StartTLS() // for example.com and *.example.com
		i.Roots = authority.Pool()
		i.Roots.AddCert(s.Certificate())
	}
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	i.Server, i.Resolver = s.URL, i
	if i.Now == nil {
		i.Now = time.Now
	}
	info := api.Server{
		APIURL: s.URL, GatewayURL: strings.SplitAfter(s.URL, "://")[0] + "example.com:" + port, BaseDomain: "example.com",
		PreviewURLTemplate: "{version}--{project}.example.com", MaxUploadBytes: 512 << 20,
	}
	if i.Info != nil { // what differs
		info.APIURL = i.Info.APIURL + info.APIURL
		if i.Info.GatewayURL != "" {
			info.GatewayURL = i.Info.GatewayURL
		}
		if i.Info.PreviewURLTemplate != "" {
			info.PreviewURLTemplate = i.Info.PreviewURLTemplate
		}
	}
	i.Info = &info
	for _, f := range doctor.Run(t.Context(), i.Target) {
		if f.Check == name {
			return f
		}
	}
	t.Fatalf("no check is called %s", name)
	return svc.Finding{}
}

// TestChecks: each check finds nothing in a healthy installation, and what is broken in others.
func TestChecks(t *testing.T) {
	t.Parallel()
	healthy := func(*installation) {}
	for name, tc := range map[string]struct {
		check  string
		fault  func(*installation)
		status svc.FindingStatus
		detail string
	}{
		"API":                 {"API", healthy, svc.FindingOK, "answers"},
		"API, another server": {"API", func(i *installation) { i.apiStatus = http.StatusBadGateway }, svc.FindingFailed, "502 Bad Gateway, and is not the API"},
		"API, scheme":         {"API", func(i *installation) { i.Info = &api.Server{APIURL: "http://other/"} }, svc.FindingFailed, "the API makes URLs with http://other/"},
		"clock":               {"clock", healthy, svc.FindingOK, "s apart from the server"},
		"clock, off":          {"clock", func(i *installation) { i.date = i.date.Add(-time.Hour) }, svc.FindingWarning, "apart from the server"},
		"DNS":                 {"DNS", healthy, svc.FindingOK, "has the address 127.0.0.1"},
		"DNS, none":           {"DNS", func(i *installation) { i.lookup = &net.DNSError{IsNotFound: true} }, svc.FindingFailed, "has no address"},
		"DNS, one differs": {"DNS", func(i *installation) {
			i.Hosts, i.addresses = []string{"shop.example.com"}, map[string][]string{"shop.example.com": {"192.0.2.1"}}
		}, svc.FindingWarning, "shop.example.com has 192.0.2.1"},
		"TLS":             {"TLS", healthy, svc.FindingOK, "has a certificate until"},
		"TLS, other name": {"TLS", func(i *installation) { i.Info = &api.Server{PreviewURLTemplate: "{version}.{project}.example.com"} }, svc.FindingFailed, "the certificate is for [example.com *.example.com], not for"},
		"TLS, ends": {"TLS", func(i *installation) {
			i.Now = func() time.Time { return time.Date(2084, 1, 27, 0, 0, 0, 0, time.UTC) }
		}, svc.FindingWarning, "ends in"},
		"TLS, short": {"TLS", func(i *installation) { i.short = true }, svc.FindingOK, "has a certificate until"},
		"TLS, short, ends": {"TLS", func(i *installation) {
			i.short, i.Now = true, func() time.Time { return time.Now().Add(10 * time.Hour) }
		}, svc.FindingWarning, "ends in 2h0m0s"},
		"TLS, none":      {"TLS", func(i *installation) { i.plain = true }, svc.FindingWarning, "without encryption"},
		"TLS, on demand": {"TLS", func(i *installation) { i.refuses = true }, svc.FindingWarning, "no version has a host yet"},
		"TLS, refused": {"TLS", func(i *installation) {
			i.refuses, i.Hosts = true, []string{"shop.example.com"}
		}, svc.FindingFailed, "does not answer"},
		"scheme, on demand":   {"scheme", func(i *installation) { i.refuses = true }, svc.FindingWarning, "no version has a host yet"},
		"scheme":              {"scheme", healthy, svc.FindingOK, "workers see proto=https"},
		"scheme, http":        {"scheme", func(i *installation) { i.seen = "proto=http client=10.0.0.1" }, svc.FindingFailed, "visitors use https, workers see proto=http client=10.0.0.1"},
		"scheme, stranger":    {"scheme", func(i *installation) { i.seen = "" }, svc.FindingFailed, "not by the gateway"},
		"websocket":           {"websocket", healthy, svc.FindingOK, "handshakes arrive"},
		"websocket, dropped":  {"websocket", func(i *installation) { i.seen += " none" }, svc.FindingFailed, "arrives as a plain request"},
		"body limit":          {"body limit", healthy, svc.FindingOK, "bodies of 512 MiB arrive"},
		"body limit, nginx's": {"body limit", func(i *installation) { i.bodyLimit = 1 << 20 }, svc.FindingFailed, "in front of the API refuses bodies of 512 MiB with 413"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := examine(t, tc.check, tc.fault)
			if f.Status != tc.status || !strings.Contains(f.Detail, tc.detail) {
				t.Errorf("%+v, want %s with %q", f, tc.status, tc.detail)
			}
			if wrong := f.Status == svc.FindingWarning || f.Status == svc.FindingFailed; wrong != (f.Advice != "") {
				t.Errorf("advice %q with %s", f.Advice, f.Status)
			}
		})
	}
}

// TestNothingAnswers: every check ends, and those that know nothing are left out.
func TestNothingAnswers(t *testing.T) {
	t.Parallel()
	for _, f := range doctor.Run(t.Context(), doctor.Target{Server: "http://127.0.0.1:1", Resolver: net.DefaultResolver, Now: time.Now}) {
		want := svc.FindingSkipped
		if f.Check == "API" {
			want = svc.FindingFailed
		}
		if f.Status != want {
			t.Errorf("%+v, want %s", f, want)
		}
	}
}

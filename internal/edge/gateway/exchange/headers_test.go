package exchange

import (
	"encoding/json"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

func TestClientAddress(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8")}
	for name, tc := range map[string]struct {
		addr      net.Addr
		forwarded string
		want      string
		trusted   bool
	}{
		"direct":              {&net.TCPAddr{IP: net.ParseIP("8.8.8.8")}, "", "8.8.8.8", false},
		"mapped":              {&net.TCPAddr{IP: net.ParseIP("::ffff:10.1.1.1")}, "", "10.1.1.1", true},
		"zone":                {&net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "eth0"}, "", "fe80::1", false},
		"unix":                {&net.UnixAddr{}, "", "::1", true},
		"one hop":             {&net.TCPAddr{IP: net.ParseIP("10.1.1.1")}, "9.9.9.9", "9.9.9.9", true},
		"client lies":         {&net.TCPAddr{IP: net.ParseIP("10.1.1.1")}, "1.2.3.4, 9.9.9.9", "9.9.9.9", true},
		"two proxies":         {&net.TCPAddr{IP: net.ParseIP("10.1.1.1")}, "1.2.3.4,9.9.9.9, 10.2.2.2", "9.9.9.9", true},
		"only proxies":        {&net.TCPAddr{IP: net.ParseIP("10.1.1.1")}, "10.3.3.3, 10.2.2.2", "10.3.3.3", true},
		"no address":          {&net.TCPAddr{IP: net.ParseIP("10.1.1.1")}, "unknown", "10.1.1.1", true},
		"nonsense on the way": {&net.TCPAddr{IP: net.ParseIP("10.1.1.1")}, "9.9.9.9, _x, 10.2.2.2", "10.2.2.2", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(tc.addr, &trust{proxies: trusted})
			if got := string(p.client([]byte(tc.forwarded))); got != tc.want || p.trusted != tc.trusted {
				t.Errorf("%s, trusted %v", got, p.trusted)
			}
		})
	}
}

func TestTraceparent(t *testing.T) {
	t.Parallel()
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for in, want := range map[string]bool{
		good: true, "cc-" + good[3:] + "-more": true, good + "-more": false, "ff-" + good[3:]: false, "": false,
		strings.ToUpper(good): false, good[:54]: false, strings.Replace(good, "-", "_", 1): false,
		"00-" + strings.Repeat("0", 32) + good[35:]:                              false,
		"00-0af7651916cd43dd8448eb211c80319c-" + strings.Repeat("0", 16) + "-01": false,
		"cc-" + good[3:] + strings.Repeat("-", 60):                               false,
	} {
		if got := validTraceparent([]byte(in)); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
}

// FuzzForwardedHead checks that for each head of a client, the head for the runtime
// parses to the same method, target and framing, with exactly one of each field that
// the gateway sets.
func FuzzForwardedHead(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a\r\nX-Svc-Cf: x\r\nConnection: x-svc-cf, host\r\n\r\n"))
	f.Add([]byte("POST /x HTTP/1.1\r\nHost: a\r\nx-forwarded-for: 1\r\nContent-Length: 3\r\n\r\n"))
	p := newPeer(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, &trust{proxies: loopback()})
	f.Fuzz(func(t *testing.T, in []byte) {
		x := &Request{}
		n, err := http1.FindHead(in, 0)
		if err != nil || n == 0 || x.Req.Parse(in[:n]) != nil {
			return
		}
		x.Inspect(&p)
		head := x.AppendRequest(nil, &p)
		var again http1.Request
		m, err := http1.FindHead(head, 0)
		if err != nil || m != len(head) {
			t.Fatalf("%q is not one head: %d, %v", head, m, err)
		}
		if err := again.Parse(head); err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		if string(again.Method) != string(x.Req.Method) || string(again.Target) != string(x.Req.Target) || again.Chunked != x.Req.Chunked || again.Length != x.Req.Length {
			t.Errorf("%q became %q", in[:n], head)
		}
		for _, name := range []string{"host", "x-svc-proto", "x-svc-cf", "x-request-id", "traceparent", "cf-connecting-ip", "x-forwarded-for"} {
			count := 0
			for _, field := range again.List {
				if http1.EqualFold(field.Name, name) {
					count++
				}
			}
			if count != 1 {
				t.Errorf("%d times %s in %q", count, name, head)
			}
		}
		if !json.Valid(again.Get("x-svc-cf")) {
			t.Errorf("%q", head)
		}
	})
}

package svc

import (
	"errors"
	"strings"
	"testing"
)

// TestNormalDomain: one form for each host name, and a refusal of what no domain can be.
func TestNormalDomain(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"Shop.Example.COM.": "shop.example.com", " shop.example.com ": "shop.example.com", "*.Example.com": "*.example.com",
		"xn--mnchen-3ya.de": "xn--mnchen-3ya.de", "example.com": "example.com", "a-b.c1.io": "a-b.c1.io",
	} {
		if got, err := NormalDomain(given); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
	}
	for _, bad := range []string{
		"", "localhost", "a.localhost", "example", "*", "*.*.example.com", "a.*.example.com", "127.0.0.1", "[::1]", "1.2.3", "example.com:443", "https://example.com",
		"a..example.com", "-a.example.com", "a-.example.com", "a_b.example.com", "münchen.de", "example.com/path", "1.0.0.127.in-addr.arpa",
		strings.Repeat("a", 64) + ".com", strings.Repeat("a.", 120) + "example.com", "a b.com", "a\x00.com",
	} {
		if got, err := NormalDomain(bad); !errors.Is(err, Unprocessable) || CodeOf(err) != CodeDomainInvalid {
			t.Errorf("%q is accepted as %q (%v)", bad, got, err)
		}
	}
}

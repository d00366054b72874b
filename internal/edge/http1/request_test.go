package http1_test

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

// status parses one request head and returns 200, or the status of its error.
func status(t *testing.T, head string) (*http1.Request, int) {
	t.Helper()
	var r http1.Request
	n, err := http1.FindHead([]byte(head), 0)
	if err == nil && n == 0 {
		return nil, 0 // more bytes are needed
	}
	if err == nil {
		err = r.Parse([]byte(head)[:n])
	}
	var e *http1.Error
	switch {
	case err == nil:
		return &r, 200
	case errors.As(err, &e):
		return nil, e.Status
	}
	t.Fatalf("not an *http1.Error: %v", err)
	return nil, 0
}

func TestRequestGrammar(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		head string
		want int
	}{
		"plain":                       {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 200},
		"1.0":                         {"GET / HTTP/1.0\r\nHost: a\r\n\r\n", 200},
		"leading empty line":          {"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 200},
		"two leading empty lines":     {"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		"raw utf-8 in the target":     {"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n", 200},
		"value with obs-text":         {"GET / HTTP/1.1\r\nHost: a\r\nX: \xff\r\n\r\n", 200},
		"empty value":                 {"GET / HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n", 200},
		"absolute form, same host":    {"GET http://A:80/x HTTP/1.1\r\nHost: a:80\r\n\r\n", 200},
		"absolute form, other host":   {"GET http://b/x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		"absolute form with userinfo": {"GET http://a@a/x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		"https in absolute form":      {"GET https://a/x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		"asterisk form":               {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		"authority form":              {"CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 405},
		"connect in origin form":      {"CONNECT / HTTP/1.1\r\nHost: a:80\r\n\r\n", 405},
		"port":                        {"GET / HTTP/1.1\r\nHost: a:65535\r\n\r\n", 200},
		"no port":                     {"GET / HTTP/1.1\r\nHost: a:\r\n\r\n", 200},
		"large port":                  {"GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", 400},
		"endless port":                {"GET / HTTP/1.1\r\nHost: a:99999999999999999999\r\n\r\n", 400},
		"port with letters":           {"GET / HTTP/1.1\r\nHost: a:80b\r\n\r\n", 400},
		"two ports":                   {"GET / HTTP/1.1\r\nHost: a:80:80\r\n\r\n", 400},
		"signed port":                 {"GET / HTTP/1.1\r\nHost: a:-1\r\n\r\n", 400},
		"port without a host":         {"GET / HTTP/1.1\r\nHost: :80\r\n\r\n", 400},
		"IPv6 host":                   {"GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", 200},
		"IPv6 host and port":          {"GET / HTTP/1.1\r\nHost: [fe80::1]:80\r\n\r\n", 200},
		"IPv6 host, port of letters":  {"GET / HTTP/1.1\r\nHost: [::1]:x\r\n\r\n", 400},
		"IPv6 host, text behind":      {"GET / HTTP/1.1\r\nHost: [::1]80\r\n\r\n", 400},
		"IPv6 host without brackets":  {"GET / HTTP/1.1\r\nHost: ::1\r\n\r\n", 400},
		"IPv4 host in brackets":       {"GET / HTTP/1.1\r\nHost: [127.0.0.1]\r\n\r\n", 400},
		"open bracket":                {"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400},
		"bracket in a name":           {"GET / HTTP/1.1\r\nHost: a]b\r\n\r\n", 400},
		"no host":                     {"GET / HTTP/1.1\r\n\r\n", 400},
		"no host in 1.0":              {"GET / HTTP/1.0\r\n\r\n", 400},
		"two hosts":                   {"GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", 400},
		"empty host":                  {"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},
		"host with userinfo":          {"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400},
		"host with a path":            {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
		"host with a space":           {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
		"host with a comma":           {"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", 400},
		"host with NUL":               {"GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n", 400},
		"host with obs-text":          {"GET / HTTP/1.1\r\nHost: a\xe9\r\n\r\n", 400},
		"bare LF":                     {"GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
		"bare LF only":                {"GET / HTTP/1.1\nHost: a\n\n", 400},
		"bare CR in a value":          {"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400},
		"folded line":                 {"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", 400},
		"space before the colon":      {"GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n", 400},
		"no colon":                    {"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400},
		"no name":                     {"GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", 400},
		"control byte in a value":     {"GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n", 400},
		"control byte in the target":  {"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		"two spaces":                  {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		"space in the target":         {"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		"no version":                  {"GET /\r\nHost: a\r\n\r\n", 400},
		"lower-case version":          {"GET / http/1.1\r\nHost: a\r\n\r\n", 400},
		"version 2.0":                 {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
		"http/2 preface":              {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
		"bad method":                  {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		"two lengths":                 {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
		"list of lengths":             {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", 400},
		"signed length":               {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400},
		"negative length":             {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},
		"hexadecimal length":          {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\n", 400},
		"empty length":                {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400},
		"enormous length":             {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999999999999\r\n\r\n", 400},
		"length and chunks":           {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		"chunks":                      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n", 200},
		"chunks in 1.0":               {"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		"other coding":                {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
		"two codings":                 {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
		"two coding lines":            {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 501},
		"hidden coding":               {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 501},
		"tab in a coding":             {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\tchunked\r\n\r\n", 200},
		"vertical tab in a coding":    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n", 400},
		"too many lines":              {"GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("A: b\r\n", 600) + "\r\n", 431},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, got := status(t, tc.head); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

func TestRequestParts(t *testing.T) {
	t.Parallel()
	r, code := status(t, "GET /a/../b//c%2F?q HTTP/1.1\r\nHost: a:1\r\nConnection: Upgrade, X-Own\r\nUpgrade: websocket\r\nx-OWN: 1\r\n\r\n")
	if code != 200 {
		t.Fatal(code)
	}
	if string(r.Target) != "/a/../b//c%2F?q" || string(r.Host) != "a:1" || string(r.Method) != "GET" {
		t.Errorf("%s %s %s", r.Method, r.Target, r.Host)
	}
	if !r.IsWebSocket() || !r.KeepsAlive() || r.HasBody() || !r.Listed([]byte("X-Own")) || r.Listed([]byte("Host")) {
		t.Errorf("%+v", r)
	}
	r, _ = status(t, "GET http://a?q HTTP/1.1\r\nHost: a\r\n\r\n")
	if string(r.Target) != "/?q" {
		t.Errorf("target of an absolute form without a path: %s", r.Target)
	}
	for head, keeps := range map[string]bool{
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n":      false,
		"GET / HTTP/1.0\r\nHost: a\r\n\r\n":                           false,
		"GET / HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n": true,
	} {
		if r, _ := status(t, head); r.KeepsAlive() != keeps {
			t.Errorf("%q keeps alive: %v", head, !keeps)
		}
	}
}

func TestFindHeadInPieces(t *testing.T) {
	t.Parallel()
	head := []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\nrest")
	want := len(head) - len("rest")
	for cut := range len(head) {
		n, err := http1.FindHead(head[:cut], 0)
		if err != nil || (n != 0) != (cut >= want) {
			t.Fatalf("first %d bytes: %d, %v", cut, n, err)
		}
		if n, err = http1.FindHead(head, cut); cut < want && (n != want || err != nil) {
			t.Fatalf("after %d bytes: %d, %v", cut, n, err)
		}
	}
}

// FuzzRequest checks that net/http parses each accepted request alike: both agree
// about the end of the request and its host.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
		"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var r http1.Request
		n, err := http1.FindHead(in, 0)
		if err != nil || n == 0 || r.Parse(in[:n]) != nil {
			return
		}
		std, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(in[:n])))
		if err != nil {
			return // net/http is stricter about URLs and HTTP/1.0
		}
		if std.Method != string(r.Method) || !strings.EqualFold(std.Host, string(r.Host)) {
			t.Errorf("net/http parses %s for %s, Request %s for %s", std.Method, std.Host, r.Method, r.Host)
		}
		chunked := len(std.TransferEncoding) > 0
		if chunked != r.Chunked || !chunked && std.ContentLength != max(r.Length, 0) {
			t.Errorf("net/http parses length %d %v, Request %d %v", std.ContentLength, std.TransferEncoding, r.Length, r.Chunked)
		}
	})
}

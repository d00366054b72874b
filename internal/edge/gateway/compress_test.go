package gateway_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/svcctl/svcctl/internal/edge/gateway"
)

// decoded is the reader of an encoded body.
func decoded(t *testing.T, encoding string, body io.Reader) io.Reader {
	t.Helper()
	switch encoding {
	case "gzip":
		r, err := gzip.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		return r
	case "br":
		return brotli.NewReader(body)
	case "zstd":
		r, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		return r
	}
	return body
}

// replying is a runtime that answers each request with the head in its X-Head field,
// where | separates lines, and body.
func replying(t *testing.T, body string) (socket string) {
	return fakeRuntime(t, func(_ int, c *raw) {
		for {
			req, _, ok := c.next()
			if !ok {
				return
			}
			head, stream := strings.ReplaceAll(req.Header.Get("X-Head"), "|", "\r\n"), "Transfer-Encoding: chunked\r\n\r\n"
			switch {
			case strings.Contains(head, "304"), strings.Contains(head, "204"):
				c.send(head + "\r\n\r\n")
			case req.Method == http.MethodHead:
				c.send(head + "\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)))
			case req.Header.Get("X-Stream") != "":
				c.send(head + "\r\n" + stream + fmt.Sprintf("%x\r\n%s\r\n0\r\nSum: 7\r\n\r\n", len(body), body))
			default:
				c.send(head + "\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
			}
		}
	})
}

const jsonHead = "HTTP/1.1 200 OK|Content-Type: application/json"

func TestCompression(t *testing.T) { engines(t, testCompression) }

func testCompression(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, Compress: true})
	for _, size := range []int{1 << 10, 40 << 10, 1 << 20} {
		body := strings.Repeat(`{"text": "the same text again"},`, size/32)
		b.ready(shop, replying(t, body))
		for _, encoding := range []string{"gzip", "br", "zstd"} {
			for _, stream := range []string{"", "yes"} {
				req := request(t, http.MethodGet, "v1.shop.apps.test", "/", nil)
				req.Header.Set("Accept-Encoding", encoding)
				req.Header.Set("X-Stream", stream)
				req.Header.Set("X-Head", jsonHead+`|ETag: "x"|Accept-Ranges: bytes|Vary: Origin`)
				resp, err := b.client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				wire := &counted{r: resp.Body}
				got, err := io.ReadAll(decoded(t, encoding, wire))
				_, _ = io.Copy(io.Discard, wire)
				resp.Body.Close()
				h := resp.Header
				if err != nil || string(got) != body || wire.n > size/2 {
					t.Errorf("%s of %d bytes: %d bytes, decoded %d, %v", encoding, size, wire.n, len(got), err)
				}
				if h.Get("Content-Encoding") != encoding || h.Get("ETag") != `W/"x"` || h.Get("Accept-Ranges") != "" || h.Get("Content-Length") != "" ||
					strings.Join(h["Vary"], ", ") != "Origin, Accept-Encoding" {
					t.Errorf("%s: %v", encoding, h)
				}
				if stream != "" && resp.Trailer.Get("Sum") != "7" {
					t.Errorf("%s: trailer %v", encoding, resp.Trailer)
				}
			}
		}
	}
}

type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// TestCompressionRules has the responses that are sent as the worker made them.
func TestCompressionRules(t *testing.T) { engines(t, testCompressionRules) }

func testCompressionRules(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, Compress: true})
	b.ready(shop, replying(t, strings.Repeat("a", 1<<10)))
	for name, tc := range map[string]struct {
		method, head, accept string
		encoding, vary       string
	}{
		"text":              {"GET", jsonHead, "gzip", "gzip", "Accept-Encoding"},
		"post":              {"POST", jsonHead, "gzip", "gzip", "Accept-Encoding"},
		"not found":         {"GET", "HTTP/1.1 404 Not Found|Content-Type: text/html; charset=utf-8", "gzip", "gzip", "Accept-Encoding"},
		"suffix":            {"GET", "HTTP/1.1 200 OK|Content-Type: application/ld+json", "br", "br", "Accept-Encoding"},
		"varies":            {"GET", jsonHead + "|Vary: accept-encoding", "gzip", "gzip", "accept-encoding"},
		"not accepted":      {"GET", jsonHead, "", "", "Accept-Encoding"},
		"other encoding":    {"GET", jsonHead, "compress, deflate", "", "Accept-Encoding"},
		"refused":           {"GET", jsonHead, "gzip;q=0, br;q=0", "", "Accept-Encoding"},
		"head":              {"HEAD", jsonHead, "gzip", "", ""},
		"encoded":           {"GET", jsonHead + "|Content-Encoding: br", "gzip", "br", ""},
		"no-transform":      {"GET", jsonHead + "|Cache-Control: public, no-transform", "gzip", "", ""},
		"event stream":      {"GET", "HTTP/1.1 200 OK|Content-Type: text/event-stream;charset=utf-8", "gzip", "", ""},
		"image":             {"GET", "HTTP/1.1 200 OK|Content-Type: image/png", "gzip", "", ""},
		"no type":           {"GET", "HTTP/1.1 200 OK", "gzip", "", ""},
		"part":              {"GET", "HTTP/1.1 206 Partial Content|Content-Type: text/plain|Content-Range: bytes 0-1023/9999", "gzip", "", ""},
		"range in a 200":    {"GET", jsonHead + "|Content-Range: bytes 0-1023/9999", "gzip", "", ""},
		"digest":            {"GET", jsonHead + "|Content-Digest: sha-256=:x:", "gzip", "", ""},
		"server error":      {"GET", "HTTP/1.1 500 Oops|Content-Type: text/plain", "gzip", "", ""},
		"not modified":      {"GET", "HTTP/1.1 304 Not Modified|ETag: \"x\"", "gzip", "", ""},
		"no content":        {"GET", "HTTP/1.1 204 No Content", "gzip", "", ""},
		"created":           {"POST", "HTTP/1.1 201 Created|Content-Type: text/plain", "gzip", "", ""},
		"weak tag":          {"GET", jsonHead + "|ETag: W/\"x\"", "zstd", "zstd", "Accept-Encoding"},
		"the preferred one": {"GET", jsonHead, "gzip, deflate, br, zstd", "zstd", "Accept-Encoding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := request(t, tc.method, "v1.shop.apps.test", "/", nil)
			req.Header.Set("X-Head", tc.head)
			if tc.accept != "" {
				req.Header.Set("Accept-Encoding", tc.accept)
			}
			resp, body := b.do(t, req)
			if got := resp.Header.Get("Content-Encoding"); got != tc.encoding {
				t.Errorf("Content-Encoding: %q, want %q", got, tc.encoding)
			}
			if got := strings.Join(resp.Header["Vary"], ", "); got != tc.vary {
				t.Errorf("Vary: %q, want %q", got, tc.vary)
			}
			if tag := resp.Header.Get("ETag"); strings.Count(tag, "W/") > 1 || tc.encoding == "" && tag == `W/"x"` {
				t.Errorf("ETag: %s", tag)
			}
			if tc.encoding == "" && resp.StatusCode != http.StatusNotModified && resp.StatusCode != http.StatusNoContent && resp.ContentLength != 1<<10 || len(body) > 1<<10 {
				t.Errorf("%d bytes, Content-Length %d", len(body), resp.ContentLength)
			}
		})
	}
}

// TestCompressionIsOptional checks a short body, a client of HTTP/1.0, and the setting.
func TestCompressionIsOptional(t *testing.T) { engines(t, testCompressionIsOptional) }

func testCompressionIsOptional(t *testing.T, engine gateway.Engine) {
	for name, tc := range map[string]struct {
		size    int
		minor   string
		compess bool
	}{"short": {1<<10 - 1, "1", true}, "old client": {4 << 10, "0", true}, "off": {4 << 10, "1", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, gateway.Config{Engine: engine, Compress: tc.compess})
			b.ready(shop, replying(t, strings.Repeat("a", tc.size)))
			c := b.raw(t)
			c.send("GET / HTTP/1." + tc.minor + "\r\nHost: v1.shop.apps.test\r\nAccept-Encoding: gzip\r\nX-Head: " + jsonHead + "\r\n\r\n")
			if resp, body := c.answer("GET"); len(body) != tc.size || resp.Header.Get("Content-Encoding") != "" || resp.Header.Get("Vary") != "" {
				t.Errorf("%d bytes, %v", len(body), resp.Header)
			}
		})
	}
}

// TestCompressionStreams sends each piece only when the client has the one before.
func TestCompressionStreams(t *testing.T) { engines(t, testCompressionStreams) }

func testCompressionStreams(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, Compress: true})
	next := make(chan struct{})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		for {
			if _, _, ok := c.next(); !ok {
				return
			}
			c.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
			for i := range 5 {
				c.send(fmt.Sprintf("2\r\n%d\n\r\n", i))
				<-next
			}
			c.send("0\r\n\r\n")
		}
	}))
	for _, encoding := range []string{"gzip", "br", "zstd"} {
		req := request(t, http.MethodGet, "v1.shop.apps.test", "/", nil)
		req.Header.Set("Accept-Encoding", encoding)
		resp, err := b.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body := decoded(t, encoding, resp.Body)
		for i := range 5 {
			piece := make([]byte, 2)
			if _, err := io.ReadFull(body, piece); err != nil || string(piece) != fmt.Sprintf("%d\n", i) {
				t.Fatalf("%s: piece %d: %q %v", encoding, i, piece, err)
			}
			next <- struct{}{}
		}
		if rest, err := io.ReadAll(body); err != nil || len(rest) > 0 {
			t.Errorf("%s: %q %v", encoding, rest, err)
		}
		resp.Body.Close()
	}
}

// TestCompressedResponseBreaksOff checks that a response that ends early does not look
// complete when it is compressed.
func TestCompressedResponseBreaksOff(t *testing.T) { engines(t, testCompressedResponseBreaksOff) }

func testCompressedResponseBreaksOff(t *testing.T, engine gateway.Engine) {
	b := start(t, gateway.Config{Engine: engine, Compress: true})
	b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
		if _, _, ok := c.next(); ok {
			c.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 50000))
		}
	}))
	req := request(t, http.MethodGet, "v1.shop.apps.test", "/", nil)
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := b.client.Do(req)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Error("the response looks complete")
	}
}

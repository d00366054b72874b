package gateway_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// scenario is the behavior of a client on one connection, and of the runtime. The same
// scenario runs with each engine.
type scenario struct {
	asks   []*ask
	hangUp bool // the client closes its connection when the runtime has received everything
}

// ask is a request with the runtime's response.
type ask struct {
	id     string
	method string
	minor  int
	head   string
	body   string // as the client sends it: framed
	size   int    // of the body without its framing
	expect bool   // the body waits for a 100 or the response
	slow   int    // number of body bytes that are sent before the runtime has half of the body; 0 for all
	alone  bool   // the client waits for the complete response before it sends more
	cuts   int    // number of cuts of the request
	last   bool   // no request follows
	ends   bool   // the connection ends after the response, also after one of the gateway
	frames bool   // a websocket

	answer answerPlan
	view   *view // the result
}

// answerPlan is the behavior of the runtime for a request.
type answerPlan struct {
	interim []string
	early   bool // the runtime answers before it reads the body
	never   bool // the runtime waits until its connection ends
	head    string
	body    []string // pieces, framed
	close   bool
	cut     bool // the connection ends within the body
}

func (s *scenario) String() string {
	var b strings.Builder
	for _, a := range s.asks {
		fmt.Fprintf(&b, "%q %s, expect %v slow %v alone %v cuts %d\n", a.head, digest([]byte(a.body)), a.expect, a.slow, a.alone, a.cuts)
		p := a.answer
		fmt.Fprintf(&b, "  %q %q, early %v never %v close %v, %s\n", p.interim, p.head, p.early, p.never, p.close, digest([]byte(strings.Join(p.body, ""))))
	}
	return fmt.Sprintf("%shang up %v", b.String(), s.hangUp)
}

// generator creates scenarios.
type generator struct{ *rand.Rand }

func newScenario(seed uint64) *scenario {
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	s := &scenario{}
	for i := range 1 + g.IntN(4) {
		a := g.ask(fmt.Sprintf("%d.%d", seed, i))
		if s.asks = append(s.asks, a); a.last {
			return s
		}
	}
	if s.hangUp = g.chance(10); s.hangUp {
		a := s.asks[len(s.asks)-1]
		a.expect, a.slow, a.answer = false, 0, answerPlan{never: true}
		a.body = a.body[:g.IntN(len(a.body)+1)]
	}
	return s
}

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g generator, of ...T) T { return of[g.IntN(len(of))] }

func (g generator) ask(id string) *ask {
	a := &ask{id: id, minor: 1, cuts: g.IntN(4), alone: g.chance(50)}
	if g.chance(6) {
		return g.websocket(a)
	}
	a.method = pick(g, "GET", "GET", "HEAD", "POST", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "X!y")
	if g.chance(8) {
		a.minor = 0
	}
	lines := g.fields()
	lines = append(lines, g.body(a)...)
	switch {
	case g.chance(8):
		lines, a.ends = append(lines, pick(g, "Connection: close", "connection: X-Own, Close")), true
	case a.minor == 0 && g.chance(50):
		lines = append(lines, "Connection: Keep-Alive")
	case a.minor == 0:
		a.ends = true
	}
	a.answer = g.answer(a)
	// net/http ends the connection after the first two; see TestDifferences.
	a.last = a.last || a.ends || a.expect || a.answer.early && a.answer.chunked() || a.minor == 0 && a.answer.chunked()
	a.expect = a.expect && g.chance(75) // else the client does not wait
	g.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	a.head = g.requestHead(a, lines)
	return a
}

func (g generator) requestHead(a *ask, lines []string) string {
	host := pick(g, "v1.shop.apps.test", "V1.shop.apps.test:80", "shop.apps.test", "v1.shop.apps.test.", "nothing.apps.test", "127.0.0.1:80")
	target := pick(g, "/", "/a//b/../c", "/%2F%20?q=%00&%zz", "//x/y", "/?", `/"<>|\^{}`+"`", "/ü#f?g", "/shop/v1/a?b", "/a:b;c=d", "http://"+host+"/abs?x", "http://"+host)
	return fmt.Sprintf("%s %s HTTP/1.%d\r\nHost: %s\r\nX-Plan: %s\r\nX-Request-Id: r-%s\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n%s\r\n",
		a.method, target, a.minor, host, a.id, a.id, strings.Join(append(lines, ""), "\r\n"))
}

// fields returns unusual but valid fields.
func (g generator) fields() []string {
	all := []string{
		"X-Empty:", "x-Case: 1", "X-case: 2", "X-Tab:\ta\tb\t", "X-Space:    wide   ", "X-Latin: caf\xe9", "X!#$%&'*+-.^_`|~9: odd",
		"Cookie: a=1", "Cookie: b=2; c=\"d,e\"", "Accept: text/html", "Accept: */*;q=0.1", "Accept-Encoding: gzip, br", "Range: bytes=0-1",
		"If-None-Match: W/\"x\", *", "X-Own: kept", "Keep-Alive: timeout=5", "TE: trailers, deflate;q=0.5", "Proxy-Authorization: Basic eA==",
		"Proxy-Connection: keep-alive", "Trailer: Sum", "Upgrade: h2c", "Upgrade-Insecure-Requests: 1", "User-Agent: test/1 (a; b)", "Via: 1.1 x",
		"X-Forwarded-For: 8.8.8.8, 10.0.0.1", "X-Forwarded-For: 127.0.0.9", "X-Forwarded-Proto: https", "X-Forwarded-Host: shop.example", "Forwarded: for=8.8.8.8",
		"X-Svc-Proto: https", "X-Svc-Verify: wrong", "CF-Connecting-IP: 1.1.1.1", "tracestate: a=b", "Pragma: no-cache", "Cache-Control: max-age=0",
		"X-Long: " + strings.Repeat("y", g.IntN(6000)), "Content-Type: text/plain; charset=\"utf-8\"", "Date: yesterday", "Max-Forwards: 0",
	}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:g.IntN(8)]
}

// body sets the body of a request, which may be empty, and returns the framing fields.
func (g generator) body(a *ask) []string {
	if g.chance(40) || a.method == "HEAD" {
		return nil
	}
	a.size = pick(g, 0, 1, 5, g.IntN(200), g.IntN(200), g.IntN(20000), g.IntN(100000))
	text := g.text(a.size)
	var lines []string
	if a.minor == 1 && g.chance(50) {
		lines = append(lines, pick(g, "Transfer-Encoding: chunked", "transfer-encoding: Chunked"))
		a.body, a.slow = g.chunks(text, pick(g, "", ";ext", "; a=\"b\""), pick(g, "", "Sum: 7\r\n", "Content-Length: 3\r\nX-T: 1\r\n"))
	} else {
		lines = append(lines, pick(g, "Content-Length: ", "content-length:")+strconv.Itoa(a.size))
		a.body, a.slow = text, len(text)*3/4
	}
	if g.chance(75) {
		a.slow = 0
	}
	if a.minor == 1 && a.size > 0 && g.chance(12) {
		a.expect, a.slow = true, 0
		lines = append(lines, pick(g, "Expect: 100-continue", "expect: 100-Continue"))
	}
	return lines
}

func (g generator) text(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(' ' + g.IntN(90))
	}
	return string(b)
}

// chunks frames text, in chunks of random sizes. half is the end of the chunk that
// completes half of the text.
func (g generator) chunks(text, extension, trailer string) (framed string, half int) {
	var b strings.Builder
	for size := len(text); len(text) > 0; {
		if half == 0 && len(text) <= size/2 {
			half = b.Len()
		}
		n := min(len(text), 1+g.IntN(1+max(len(text)/2, 10)))
		size := strconv.FormatInt(int64(n), 16)
		b.WriteString(pick(g, size, strings.ToUpper(size), "0"+size) + extension + "\r\n" + text[:n] + "\r\n")
		text = text[n:]
	}
	return b.String() + "0" + extension + "\r\n" + trailer + "\r\n", half
}

// answer plans the response to a.
func (g generator) answer(a *ask) answerPlan {
	p := answerPlan{early: a.size > 0 && g.chance(10)}
	if a.expect {
		if p.early = g.chance(40); !p.early {
			p.interim = append(p.interim, "HTTP/1.1 100 Continue\r\n\r\n")
		}
	}
	if g.chance(10) {
		p.interim = append(p.interim, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nlink: </b.css>\r\n\r\n")
	}
	status := pick(g, "200 OK", "200 OK", "201 Created", "204 No Content", "299 Odd But Legal", "304 Not Modified", "404 Not Found", "413 Too Large", "500 ", "503 x")
	lines := []string{
		"Content-Type: text/x", "Content-Encoding: br", "Date: today", "Set-Cookie: a=1", "set-cookie: b=2", "X-Own: \xe9", "Svc-Version: fake",
		"Svc-Error: fake", "X-Request-Id: own", "Keep-Alive: timeout=9", "Connection: X-Hop", "X-Hop: 1", "Upgrade: h2c", "ETag: W/\"x\"", "X-Empty:",
		"Trailer: Sum", "Server: x", "Location: //else.where/%zz", "Vary: *",
	}
	g.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	lines = lines[:g.IntN(6)]
	framing := g.answerBody(a, &p, status)
	if !p.close && g.chance(10) || p.cut { // else the next request might be sent on a closed connection
		p.close = true
		lines = slices.DeleteFunc(lines, func(l string) bool { return l == "Connection: X-Hop" }) // with "close", net/http does not report the rest of the list
		lines = append(lines, "Connection: close")
	}
	if framing != "" {
		lines = append(lines, framing)
	}
	p.head = "HTTP/1.1 " + status + "\r\n" + strings.Join(append(lines, ""), "\r\n") + "\r\n"
	return p
}

// answerBody plans the body and returns the framing fields.
func (g generator) answerBody(a *ask, p *answerPlan, status string) string {
	text := g.text(pick(g, 0, 1, g.IntN(300), g.IntN(300), g.IntN(40000), g.IntN(200000)))
	bodyless := a.method == "HEAD" || strings.HasPrefix(status, "204") || strings.HasPrefix(status, "304")
	var framing string
	switch n := g.IntN(10); {
	case bodyless && n < 5:
		return pick(g, "", "Content-Length: 17")
	case bodyless && n < 8 && a.method == "HEAD":
		return "Transfer-Encoding: chunked"
	case bodyless:
		return ""
	case n < 5:
		framing = "Content-Length: " + strconv.Itoa(len(text))
	case n < 9:
		framing = "Transfer-Encoding: chunked"
		text, _ = g.chunks(text, pick(g, "", ";x"), pick(g, "", "Sum: 7\r\nX-T: \xe9\r\n"))
	default:
		p.close = true
	}
	if framing != "" && len(text) > 10 && g.chance(5) {
		p.cut, p.close, a.last = true, true, true
		text = text[:len(text)/2]
	}
	for len(text) > 0 {
		n := min(len(text), 1+g.IntN(len(text)))
		p.body, text = append(p.body, text[:n]), text[n:]
	}
	return framing
}

// chunked reports whether the client receives the response in chunks.
func (p answerPlan) chunked() bool { return !strings.Contains(p.head, "Content-Length") }

// The frames of client and runtime in a websocket, which both close.
const (
	clientFrames  = "\x81\x82\x00\x00\x00\x00hi\x88\x80\x00\x00\x00\x00"
	runtimeFrames = "\x81\x05hello\x88\x00"
)

// websocket makes a the handshake of a websocket, which the runtime accepts or refuses.
func (g generator) websocket(a *ask) *ask {
	a.method, a.last = "GET", true
	lines := []string{pick(g, "Connection: Upgrade", "Connection: keep-alive, upgrade"), pick(g, "Upgrade: websocket", "Upgrade: WebSocket"), "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"}
	a.head = g.requestHead(a, append(lines, g.fields()...))
	a.head = strings.Replace(a.head, "Upgrade: h2c\r\n", "", 1)
	a.alone = true
	if a.frames = g.chance(70); a.frames {
		if strings.Contains(strings.ToLower(a.head), "shop.apps.test") && g.chance(50) {
			a.body = clientFrames // right behind the head
		}
		a.answer = answerPlan{head: "HTTP/1.1 101 Switching Protocols\r\nX-Own: 1\r\nconnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n" + pick(g, "", "\x81\x02yo")}
		return a
	}
	a.last = false
	a.answer = answerPlan{head: "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\nUpgrade: websocket\r\n\r\n", body: []string{"no"}}
	return a
}

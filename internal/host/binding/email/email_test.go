package email_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/email"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

const rules = `{"destinations": ["to@example.com"], "senders": ["From@example.com"]}`

func declared(config string) bundle.Binding {
	return bundle.Binding{Name: "B", Kind: "send_email", Resource: "B", Config: json.RawMessage(config)}
}

func TestKind(t *testing.T) {
	t.Parallel()
	bindingtest.Run(t, email.Kind{}, bindingtest.Suite{
		Good: declared(rules), Other: bundle.Binding{Name: "B", Kind: "send_email", Resource: "other"},
		Bad: map[string]bundle.Binding{
			"no resource":   {Name: "B", Kind: "send_email"},
			"unknown field": declared(`{"x": 1}`),
		},
		Shape: `if (typeof B.send !== "function") throw new Error("shape");`,
		Refused: map[string]string{
			`await B.send("x")`: "TypeError: send: the argument must be a message",
			`await B.send({ from: "from@example.com", to: "other@example.com", text: "x" })`:                                 "email to other@example.com not allowed",
			`await B.send({ from: "other@example.com", to: "to@example.com", text: "x" })`:                                   "email from other@example.com not allowed",
			`await B.send({ from: "from@example.com", to: ["to@example.com", "b@example.com"], text: "x" })`:                 "email to b@example.com not allowed",
			`await B.send({ from: "from@example.com", to: "to@example.com" })`:                                               "a message needs text or html",
			`await B.send({ from: "from@example.com", to: "here", text: "x" })`:                                              "is not an email address",
			`await B.send({ from: "from@example.com", to: "to@example.com", text: "x", headers: { "X-A": "1\r\nBcc: x" } })`: "cannot be set",
		},
	})
}

// sender sends what a request says, in both forms.
const sender = `import { EmailMessage } from "cloudflare:email";
export default { async fetch(request, { B }) {
  try {
    const m = await request.json();
    const sent = await B.send(m.raw ? new EmailMessage(m.from, m.to, m.stream ? new Response(m.raw).body : m.raw) : m);
    return new Response(typeof sent.messageId);
  } catch (e) { return new Response(e.code + " " + e.message); }
} };`

// ask asks what the API asks.
func ask(t *testing.T, set *binding.Set, path string, v any) string {
	t.Helper()
	w := httptest.NewRecorder()
	data := set.Data(func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, svc.CodeOf(err), http.StatusTeapot)
	})
	data.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	if v != nil {
		if err := json.Unmarshal(w.Body.Bytes(), v); err != nil {
			t.Fatalf("%s: %s", path, w.Body)
		}
	}
	return strings.TrimSpace(w.Body.String())
}

type mail struct {
	ID, From, Subject, State, Error, Raw string
	Recipients                           []string
}

func TestOutbox(t *testing.T) {
	t.Parallel()
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), []binding.Kind{email.Kind{}}, declared(`{}`))
	if got := set.Warnings(); len(got) != 1 || got[0] != "binding B: the server has no SVC_SMTP_URL; mail stays in the outbox of the version" {
		t.Errorf("%q", got)
	}
	w := bindingtest.Start(t, set, sender)
	for _, m := range []string{
		`{"from": {"name": "Shop", "email": "shop@example.com"}, "to": "a@example.com", "bcc": ["b@example.com"], "subject": "Grüße", "text": "hä?", "html": "<p>x</p>",
			"headers": {"X-Order": "7"}, "attachments": [{"filename": "a.txt", "type": "text/plain", "content": "aGVsbG8="}]}`,
		`{"from": "shop@example.com", "to": "a@example.com", "raw": "From: shop@example.com\r\nSubject: raw\r\n\r\nbody"}`,
		`{"from": "shop@example.com", "to": "a@example.com", "stream": true, "raw": "From: Shop <shop@example.com>\r\nSubject: stream\r\n\r\nbody"}`,
	} {
		if got := w.Post(t, "/", m); got != "string" {
			t.Errorf("%s: %s", m, got)
		}
	}
	if got := w.Post(t, "/", `{"from": "shop@example.com", "to": "a@example.com", "raw": "From: other@example.com\r\n\r\nbody"}`); got != "E_VALIDATION_ERROR the header From of the message is not shop@example.com" {
		t.Error(got)
	}
	var page struct{ Items []mail }
	ask(t, set, "/emails", &page)
	if len(page.Items) != 3 || page.Items[0].Subject != "stream" || page.Items[2].Subject != "Grüße" || page.Items[2].State != "stored" ||
		fmt.Sprint(page.Items[2].Recipients) != "[a@example.com b@example.com]" {
		t.Errorf("%+v", page.Items)
	}
	var m mail
	ask(t, set, "/emails/"+page.Items[2].ID, &m)
	for _, want := range []string{"From: \"Shop\" <shop@example.com>\r\n", "X-Order: 7\r\n", "h=C3=A4?", "<p>x</p>", "aGVsbG8=", `filename=a.txt`, "multipart/alternative"} {
		if !strings.Contains(m.Raw, want) {
			t.Errorf("%q is missing in:\n%s", want, m.Raw)
		}
	}
	if strings.Contains(m.Raw, "<b@example.com>") {
		t.Error("the message tells who else gets it")
	}
	if got := ask(t, set, "/emails/none", nil); got != "email_not_found" {
		t.Error(got)
	}
	if got := ask(t, set, "/emails?limit=x", nil); got != "invalid_limit" {
		t.Error(got)
	}
}

// server is a small SMTP server. It gives what it was told, and answers 554 to the
// recipient full@example.com.
func server(t *testing.T) (address string, told <-chan string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard, done := make(chan string, 10), make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			heard <- converse(conn)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String(), heard
}

func converse(conn net.Conn) string {
	_, _ = fmt.Fprintf(conn, "220 ready\r\n")
	return answer(conn)
}

// answer answers lines until the connection ends.
func answer(conn net.Conn) string {
	defer conn.Close()
	var all strings.Builder
	say := func(text string) { _, _ = fmt.Fprintf(conn, "%s\r\n", text) }
	lines, data := bufio.NewScanner(conn), false
	for lines.Scan() {
		line := lines.Text()
		all.WriteString(line + "\n")
		switch {
		case data && line == ".":
			data = false
			say("250 taken")
		case data:
		case strings.HasPrefix(line, "EHLO"):
			say("250-here\r\n250 AUTH PLAIN")
		case strings.HasPrefix(line, "RCPT TO:<full@"):
			say("554 no room, pass-word")
		case line == "DATA":
			data = true
			say("354 go")
		case strings.HasPrefix(line, "AUTH"):
			say("235 ok")
		default:
			say("250 ok")
		}
	}
	return all.String()
}

func TestRelay(t *testing.T) {
	t.Parallel()
	address, told := server(t)
	kind := email.Kind{Relay: svc.MailRelay{Address: address, User: "user", Password: "pass-word"}}
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), []binding.Kind{kind}, declared(`{}`))
	w := bindingtest.Start(t, set, sender)
	if got := w.Post(t, "/", `{"from": "shop@example.com", "to": ["a@example.com"], "cc": ["c@example.com"], "text": "hello"}`); got != "string" {
		t.Error(got)
	}
	got := svctest.Wait(t, "the message", told)
	for _, want := range []string{"MAIL FROM:<shop@example.com>", "RCPT TO:<a@example.com>", "RCPT TO:<c@example.com>", "\nhello\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if got := w.Post(t, "/", `{"from": "shop@example.com", "to": "full@example.com", "text": "hello"}`); !strings.HasPrefix(got, "E_INTERNAL_SERVER_ERROR the mail server: 554 ") || !strings.Contains(got, "no room, [redacted]") {
		t.Error(got)
	}
	var page struct{ Items []mail }
	ask(t, set, "/emails", &page)
	if len(page.Items) != 2 || page.Items[1].State != "sent" || page.Items[0].State != "failed" || !strings.Contains(page.Items[0].Error, "no room, [redacted]") {
		t.Errorf("%+v", page.Items)
	}
}

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

const ledgerDir = "testdata/ledger"

// cut is one promotion as its client saw it.
type cut struct {
	begin, end time.Time
	to         string
}

// seen is one answer of the production host.
type seen struct {
	start, end time.Time
	version    string
}

// TestFaultsNoRequestFails promotes back and forth under load: every request is
// answered in full, by the version that is production, and never again by the
// one before [D20].
// spec: [C1.2] [C6.4]
func TestFaultsNoRequestFails(t *testing.T) {
	t.Parallel()
	d := started(t)
	prod := d.deploy(ledgerDir, "--version", "v1").ProdURL
	d.deploy(ledgerDir, "--version", "v2")
	socket := d.openSocket(prod)
	long := d.longStream(prod, 250)
	load := d.loadOn(prod, 8)
	cuts := d.backAndForth(2) // with the long stream in flight: each takes 2 s
	d.checkSocket(socket, "v1")
	if err := <-long; err != nil {
		t.Errorf("the long stream: %v", err)
	}
	cuts = append(cuts, d.backAndForth(28)...)
	if got, err := d.who(socket); got != "v1" && time.Since(cuts[0].begin) < 30*time.Second { // then it may end
		t.Errorf("the websocket says %q, %v", got, err)
	}
	answers := 0
	for i, client := range load() {
		answers += len(client)
		checkOrder(t, fmt.Sprintf("client %d", i), client, cuts)
	}
	t.Logf("%d answers during %d promotes in %s", answers, len(cuts), cuts[len(cuts)-1].end.Sub(cuts[0].begin))
}

// backAndForth promotes n times, v2 first.
func (d *daemon) backAndForth(n int) (cuts []cut) {
	d.t.Helper()
	c := d.client()
	for i := range n {
		now := cut{begin: time.Now(), to: []string{"v2", "v1"}[i%2]}
		p, err := c.Promote(d.t.Context(), "ledger", now.to, api.PromoteVersion{})
		if err == nil {
			_, err = c.WaitPromotion(d.t.Context(), "ledger", p.OperationID)
		}
		if err != nil {
			d.t.Fatalf("promote %d: %v", i, err)
		}
		now.end = time.Now()
		cuts = append(cuts, now)
	}
	return cuts
}

// checkOrder follows one client through the promotions: after each one it may see
// the next, and never the one before. Production number i, cuts[i-1].to, can answer
// from the begin of its promotion to the end of the next.
func checkOrder(t *testing.T, who string, answers []seen, cuts []cut) {
	t.Helper()
	now := 0
	for _, a := range answers {
		for ; now <= len(cuts); now++ {
			version, from, to := "v1", time.Time{}, a.end
			if now > 0 {
				version, from = cuts[now-1].to, cuts[now-1].begin
			}
			if now < len(cuts) {
				to = cuts[now].end
			}
			if version == a.version && !a.end.Before(from) && !a.start.After(to) {
				break
			}
		}
		if now > len(cuts) {
			t.Errorf("%s: %s answered between %s and %s, when it was not production", who, a.version,
				a.start.Format(time.StampMicro), a.end.Format(time.StampMicro))
			return
		}
	}
	if len(answers) < 10 {
		t.Errorf("%s had %d answers only", who, len(answers))
	}
}

// loadOn asks the production host without a pause, with n clients that differ
// in what they ask and how, until the returned function is called, which gives
// what each of them saw.
func (d *daemon) loadOn(prod string, n int) (end func() [][]seen) {
	stop := make(chan struct{})
	answers := make([][]seen, n)
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() {
			c := &loader{daemon: d, url: prod, n: i, http: d.http()}
			if i%2 == 0 {
				keeping := d.transport()
				keeping.DisableKeepAlives = false
				c.http.Transport = keeping
			}
			answers[i] = c.run(stop)
		})
	}
	return func() [][]seen { close(stop); clients.Wait(); return answers }
}

// loader is one client.
type loader struct {
	*daemon

	url  string
	n    int
	http *http.Client
}

func (l *loader) run(stop <-chan struct{}) (answers []seen) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return answers
		case <-time.After(time.Millisecond): // leaves room for the tests beside it
		}
		a := seen{start: time.Now()}
		var err error
		a.version, err = l.ask(i)
		a.end = time.Now()
		if err != nil {
			l.t.Errorf("client %d: %v", l.n, err)
			return answers
		}
		answers = append(answers, a)
	}
}

// ask sends a read, a write or a short stream, and gives the version that
// answered.
func (l *loader) ask(i int) (string, error) {
	method, path, body, want := http.MethodGet, "/", "", 1
	switch l.n % 4 {
	case 2:
		method, path, body = http.MethodPost, "/add", fmt.Sprintf("%d/%d", l.n, i)
	case 3:
		path, want = "/stream?n=5", 5
	}
	a, err := patiently(func() (answer, error) { return fetch(l.t.Context(), l.http, method, l.url+path, body) })
	if err != nil {
		return "", err
	}
	version := a.Header.Get("Svc-Version")
	if a.Status != 200 || strings.TrimRight(strings.Repeat(version+"\n", want), "\n") != strings.TrimRight(a.Body, "\n") {
		return "", fmt.Errorf("%s %s: %d from %q: %q", method, path, a.Status, version, a.Body)
	}
	return version, nil
}

// longStream reads n lines, 20 ms apart, which all have to be of v1.
func (d *daemon) longStream(prod string, n int) <-chan error {
	done := make(chan error, 1)
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, fmt.Sprintf("%s/stream?n=%d", prod, n), nil)
	if err != nil {
		d.t.Fatal(err)
	}
	resp, err := d.http().Do(req) // with the first line, so it has begun
	if err != nil {
		d.t.Fatal(err)
	}
	go func() {
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err == nil && string(body) != strings.Repeat("v1\n", n) {
			err = fmt.Errorf("%d: %d lines, of v1 %d", resp.StatusCode, strings.Count(string(body), "\n"), strings.Count(string(body), "v1\n"))
		}
		done <- err
	}()
	return done
}

func (d *daemon) openSocket(prod string) *websocket.Conn {
	d.t.Helper()
	ws, _, err := websocket.Dial(d.t.Context(), prod+"/socket", &websocket.DialOptions{HTTPClient: d.http()})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = ws.CloseNow() })
	d.checkSocket(ws, "v1")
	return ws
}

func (d *daemon) checkSocket(ws *websocket.Conn, want string) {
	d.t.Helper()
	if got, err := d.who(ws); err != nil || got != want {
		d.t.Fatalf("the websocket says %q, %v; want %s", got, err, want)
	}
}

// who asks the version behind a websocket for its name.
func (d *daemon) who(ws *websocket.Conn) (string, error) {
	ctx, cancel := context.WithTimeout(d.t.Context(), svctest.Patience)
	defer cancel()
	err := ws.Write(ctx, websocket.MessageText, []byte("who?"))
	if err != nil {
		return "", err
	}
	_, got, err := ws.Read(ctx)
	return string(got), err
}

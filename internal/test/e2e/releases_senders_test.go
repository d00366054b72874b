//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// senders add lines to production through several gateways, and note which version has acknowledged
// each of them.
type senders struct {
	d    *daemon
	url  string
	stop context.CancelFunc
	all  sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	sent     []sentLine
	failed   []string             // by "gateway: answer"
	since    map[string]time.Time // begin of the request that each sender waits for
	longest  time.Duration
	switches []switched
}

// sentLine is an acknowledged line.
type sentLine struct {
	text, gateway, version string
	began                  time.Time
}

// switched says from when on an older version may not answer a request that begins.
type switched struct {
	version string
	at      time.Time
}

// sendTo starts n senders for each gateway.
func (d *daemon) sendTo(url string, n int, gateways map[string]*http.Client) *senders {
	ctx, stop := context.WithCancel(d.t.Context())
	s := &senders{d: d, url: url, stop: stop, since: map[string]time.Time{}}
	for gateway, client := range gateways {
		for i := range n {
			s.all.Go(func() {
				for k := 0; ctx.Err() == nil; k++ {
					s.send(ctx, client, gateway, fmt.Sprintf("%s/%d", gateway, i), k)
					select {
					case <-ctx.Done():
					case <-time.After(time.Millisecond): // leaves room for the tests beside it
					}
				}
			})
		}
	}
	return s
}

// send adds one line. A request that the end of the test cuts off is not noted.
func (s *senders) send(ctx context.Context, client *http.Client, gateway, sender string, k int) {
	l := sentLine{text: fmt.Sprintf("%s/%d", sender, k), gateway: gateway, began: time.Now()}
	s.mu.Lock()
	s.since[sender] = l.began
	s.mu.Unlock()
	a, err := fetch(ctx, client, http.MethodPost, s.url+"/add", l.text)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.since, sender)
	switch {
	case err == nil && a.Status == http.StatusOK:
		l.version = a.Body
		s.sent = append(s.sent, l)
		s.longest = max(s.longest, time.Since(l.began))
	case ctx.Err() == nil:
		s.failed = append(s.failed, fmt.Sprintf("%s: %d %s %.200s %v", gateway, a.Status, a.Header.Get("Svc-Error"), a.Body, err))
	}
}

// await waits for n more lines through a gateway.
func (s *senders) await(gateway string, n int) {
	s.d.t.Helper()
	count := func() (sum int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, l := range s.sent {
			if l.gateway == gateway {
				sum++
			}
		}
		return sum
	}
	enough := count() + n
	svctest.Eventually(s.d.t, "lines through "+gateway, func() bool { return count() >= enough })
}

// held waits until all senders have waited for so long that production is held.
func (s *senders) held() {
	s.d.t.Helper()
	svctest.Eventually(s.d.t, "requests to wait", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, began := range s.since {
			if time.Since(began) < time.Second {
				return false
			}
		}
		return len(s.since) > 0
	})
}

func (s *senders) failures() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.failed)
}

// switched notes that a version is production.
func (s *senders) switched(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.switches = append(s.switches, switched{version, time.Now()})
}

// end stops the senders, and returns the lines.
func (s *senders) end() (lines []string) {
	s.stop()
	s.all.Wait()
	for _, l := range s.sent {
		lines = append(lines, l.text)
	}
	return lines
}

// checkVersions checks that no request that began after a switch was answered by an older version.
func (s *senders) checkVersions(order ...string) {
	s.d.t.Helper()
	for _, l := range s.sent {
		for _, w := range s.switches {
			if l.began.After(w.at) && slices.Index(order, l.version) < slices.Index(order, w.version) {
				s.d.t.Errorf("%s, sent %s after %s became production, was answered by %s", l.text, l.began.Sub(w.at), w.version, l.version)
			}
		}
	}
}

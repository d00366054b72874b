//go:build kube

package kube

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// sample is one answered request.
type sample struct {
	began, ended time.Time
	status       int
	body         string
	err          error
}

// load sends requests until end is called.
type load struct {
	stop context.CancelFunc
	all  sync.WaitGroup

	mu   sync.Mutex
	list []sample
}

// visit sends rate requests a second to url from n connections; 0 sends without a pause.
func visit(t *testing.T, c *http.Client, url string, n, rate int) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{stop: cancel}
	for range n {
		l.all.Go(func() {
			var tick <-chan time.Time
			if rate > 0 {
				ticker := time.NewTicker(time.Second * time.Duration(n) / time.Duration(rate))
				defer ticker.Stop()
				tick = ticker.C
			}
			for ctx.Err() == nil {
				if tick != nil {
					select {
					case <-tick:
					case <-ctx.Done():
						return
					}
				}
				s := ask(ctx, c, http.MethodGet, url, "")
				if ctx.Err() != nil {
					return
				}
				l.mu.Lock()
				l.list = append(l.list, s)
				l.mu.Unlock()
			}
		})
	}
	return l
}

// write adds lines to the ledger at url from n connections, and returns the acknowledged ones.
func write(t *testing.T, c *http.Client, url string, n int) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{stop: cancel}
	for i := range n {
		l.all.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				line := fmt.Sprintf("%d-%d-%d", time.Now().UnixNano(), i, k)
				s := ask(context.WithoutCancel(ctx), c, http.MethodPost, url+"/add", line)
				if s.status == http.StatusOK {
					s.body = line
				}
				l.mu.Lock()
				l.list = append(l.list, s)
				l.mu.Unlock()
			}
		})
	}
	return l
}

func ask(ctx context.Context, c *http.Client, method, url, body string) (s sample) {
	s.began = time.Now()
	defer func() { s.ended = time.Now() }()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		s.err = err
		return s
	}
	resp, err := c.Do(r)
	if err != nil {
		s.err = err
		return s
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	s.status, s.body, s.err = resp.StatusCode, string(text), err
	return s
}

func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}

// since returns the requests from a number on.
func (l *load) since(mark int) []sample {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list[mark:])
}

// good returns how many requests succeeded.
func (l *load) good() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.list {
		if s.err == nil && s.status == http.StatusOK {
			n++
		}
	}
	return n
}

// await waits for n more successes.
func (l *load) await(t *testing.T, n int) {
	t.Helper()
	before := l.good()
	svctest.Succeeds(t, "requests to succeed", func() error {
		if k := l.good() - before; k < n {
			return fmt.Errorf("%d of %d", k, n)
		}
		return nil
	})
}

func (l *load) end() []sample {
	l.stop()
	l.all.Wait()
	return l.list
}

// failed returns the requests that did not succeed.
func failed(list []sample) (bad []sample) {
	for _, s := range list {
		if s.err != nil || s.status != http.StatusOK {
			bad = append(bad, s)
		}
	}
	return bad
}

// gap returns the longest time in which no request that succeeded ended.
func gap(list []sample) time.Duration {
	_, longest := pause(list)
	return longest
}

// pause is gap with the time when it began.
func pause(list []sample) (at time.Time, longest time.Duration) {
	var ends []time.Time
	for _, s := range list {
		if s.err == nil && s.status == http.StatusOK {
			ends = append(ends, s.ended)
		}
	}
	slices.SortFunc(ends, func(a, b time.Time) int { return a.Compare(b) })
	for i := 1; i < len(ends); i++ {
		if d := ends[i].Sub(ends[i-1]); d > longest {
			at, longest = ends[i-1], d
		}
	}
	return at, longest
}

// slowest returns the longest time of a request.
func slowest(list []sample) (longest time.Duration) {
	for _, s := range list {
		longest = max(longest, s.ended.Sub(s.began))
	}
	return longest
}

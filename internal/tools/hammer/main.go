// Command hammer sends requests to one host for a while, from clients that keep their
// connection and from clients that open one for each request. SIGTERM ends it earlier, as soon
// as it has sent as many requests as it must. It prints how many answers of each kind came and
// the longest wait, and fails unless all answers are 200.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:8787/", "where to send them")
	host := flag.String("host", "", "value of Host")
	clients := flag.Int("clients", 8, "clients at a time; every second one keeps its connection")
	duration := flag.Duration("for", 10*time.Second, "how long")
	pause := flag.Duration("pause", 5*time.Millisecond, "between two requests of a client")
	least := flag.Int("least", 1, "requests that must have been sent")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *duration)
	defer cancel()
	var r result
	ended, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	var wg sync.WaitGroup
	for i := range *clients {
		kept := i%2 == 0
		client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: !kept}}
		wg.Go(func() {
			for ctx.Err() == nil && (ended.Err() == nil || r.sent() < *least) {
				begun := time.Now()
				r.add(kept, ask(client, *url, *host), time.Since(begun))
				time.Sleep(*pause)
			}
		})
	}
	wg.Wait()
	if !r.print(*least) {
		os.Exit(1)
	}
}

// result counts answers. It is safe for concurrent use.
type result struct {
	mu      sync.Mutex
	total   int
	counts  map[string]int
	longest time.Duration
}

func (r *result) add(kept bool, answer string, took time.Duration) {
	kind := "new connection"
	if kept {
		kind = "kept connection"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.total++
	r.counts[kind+": "+answer]++
	r.longest = max(r.longest, took)
}

// sent returns the number of requests so far.
func (r *result) sent() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// print tells whether all went well.
func (r *result) print(least int) bool {
	well := r.total >= least
	var kinds []string
	for kind := range r.counts {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		fmt.Printf("  %-30s %d\n", kind, r.counts[kind])
		well = well && (kind == "new connection: 200" || kind == "kept connection: 200")
	}
	fmt.Printf("  requests %d, longest wait %v\n", r.total, r.longest.Round(time.Millisecond))
	return well
}

func ask(c *http.Client, url, host string) string {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return err.Error()
	}
	request.Host = host
	answer, err := c.Do(request)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "reset"
	case err != nil:
		return err.Error()
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return "body cut off"
	}
	if answer.StatusCode == http.StatusOK {
		return "200"
	}
	return fmt.Sprint(answer.StatusCode, " ", answer.Header.Get("Svc-Error"))
}

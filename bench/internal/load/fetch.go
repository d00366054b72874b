package load

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Fetched is what Fetch measured.
type Fetched struct {
	Requests int64
	Bytes    int64 // of each body, as it was sent
}

// Fetch asks for a path over and over for a time, on each of some connections, in an
// encoding ("identity" for none). It reads bodies of any framing and does not decode
// them, so it costs more than Run: what it asks is to be compared by processor time.
// An answer in another encoding is an error.
func Fetch(ctx context.Context, w Window, encoding string) (Fetched, error) {
	transport := &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: w.Conns,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, w.Target.Network, w.Target.Address)
		},
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: slack}
	var requests, size atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	end := time.Now().Add(w.For)
	for range w.Conns {
		group.Go(func() error {
			for time.Now().Before(end) {
				n, err := fetch(ctx, client, "http://"+w.Target.Host+w.Path, encoding)
				if err != nil {
					return err
				}
				requests.Add(1)
				size.Store(n)
			}
			return nil
		})
	}
	err := group.Wait()
	return Fetched{requests.Load(), size.Load()}, err
}

// fetch makes one request and gives the length of the body.
func fetch(ctx context.Context, c *http.Client, url, encoding string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept-Encoding", encoding)
	resp, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	got := resp.Header.Get("Content-Encoding")
	got = cmp.Or(got, "identity")
	if resp.StatusCode != http.StatusOK || got != encoding {
		return 0, fmt.Errorf("status %d, encoding %s, want %s", resp.StatusCode, got, encoding)
	}
	return io.Copy(io.Discard, resp.Body)
}

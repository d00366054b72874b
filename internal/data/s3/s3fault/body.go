package s3fault

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// The number of parts of a slow body, and the size of a part when the length of the
// body is unknown.
const (
	steps   = 8
	unknown = 16 << 10
)

// slow makes reading a body of n bytes (-1: unknown) take about d.
func slow(ctx context.Context, body io.Reader, n int64, d time.Duration) io.ReadCloser {
	step := max(n/steps, 1)
	if n < 0 {
		step = unknown
	}
	return io.NopCloser(&slowReader{ctx: ctx, body: body, step: step, pause: d / steps})
}

type slowReader struct {
	ctx   context.Context //nolint:containedctx // of the request
	body  io.Reader
	step  int64
	pause time.Duration
}

func (s *slowReader) Read(b []byte) (int, error) {
	if err := backoff.Sleep(s.ctx, s.pause); err != nil {
		return 0, err
	}
	return s.body.Read(b[:min(int64(len(b)), s.step)])
}

// torn ends a body of n bytes in the middle, and one of unknown size immediately.
func torn(body io.Reader, n int64) io.ReadCloser {
	return io.NopCloser(io.MultiReader(io.LimitReader(body, max(n, 0)/2), broken{}))
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// flushing flushes every write.
type flushing struct{ w http.ResponseWriter }

func (f flushing) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	if err == nil {
		err = http.NewResponseController(f.w).Flush()
	}
	return n, err
}

// listing is an answer to a list request.
type listing struct {
	at     time.Time
	header http.Header
	body   []byte
}

func (l *listing) response() *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: l.header.Clone(),
		Body: io.NopCloser(bytes.NewReader(l.body)), ContentLength: int64(len(l.body)),
	}
}

// remember keeps a copy of the answer to a list request.
func (p *Proxy) remember(r *http.Request, resp *http.Response) error {
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read listing: %w", err)
	}
	resp.Header.Set("Content-Length", fmt.Sprint(len(data)))
	l := &listing{time.Now(), resp.Header, data}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	if resp.StatusCode == http.StatusOK {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lists[r.RequestURI] = l
	}
	return nil
}

// earlier is the previous answer to the same list request, nil when it does not
// exist or is too old. p.mu is held.
func (p *Proxy) earlier(r *http.Request) *listing {
	l := p.lists[r.RequestURI]
	if !isList(r) || l == nil || time.Since(l.at) > p.faults.Stale {
		return nil
	}
	return l
}

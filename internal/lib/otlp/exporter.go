package otlp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	queued  = 2048             // spans that wait; more are dropped
	batched = 512              // spans of one request
	delay   = 5 * time.Second  // longest wait of a span for others
	limit   = 10 * time.Second // for one request
)

// Config says where spans go.
type Config struct {
	URL      string // of the collector, with the path
	Headers  map[string]string
	Resource []Attr // properties of the process
	Logger   *slog.Logger
}

// Exporter sends spans in the background. Make it with New. It is safe for concurrent use.
type Exporter struct {
	cfg     Config
	client  *http.Client
	spans   chan Span
	dropped atomic.Int64
	failing bool
	quit    chan struct{}
	ended   chan struct{}
	stop    func()
}

// New returns an Exporter, which runs until Stop.
func New(cfg Config) *Exporter {
	e := &Exporter{
		cfg: cfg, client: &http.Client{Timeout: limit}, spans: make(chan Span, queued), quit: make(chan struct{}), ended: make(chan struct{}),
	}
	e.stop = sync.OnceFunc(func() { close(e.quit) })
	go e.run()
	return e
}

// Record takes a span over. It does not block: a span that finds no room is dropped.
func (e *Exporter) Record(s Span) {
	select {
	case e.spans <- s:
	default:
		e.dropped.Add(1)
	}
}

// Stop sends the spans that were recorded before, until ctx ends.
func (e *Exporter) Stop(ctx context.Context) error {
	e.stop()
	select {
	case <-e.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("send the last spans: %w", ctx.Err())
	}
}

func (e *Exporter) run() {
	defer close(e.ended)
	defer e.client.CloseIdleConnections()
	var batch []Span
	var timer <-chan time.Time // nil without a span
	for {
		select {
		case s := <-e.spans:
			batch = append(batch, s)
			if timer == nil {
				timer = time.After(delay)
			}
		case <-timer:
			batch, timer = e.send(batch), nil
		case <-e.quit:
			e.drain(batch)
			return
		}
		if len(batch) >= batched {
			batch, timer = e.send(batch), nil
		}
	}
}

// drain sends what is left.
func (e *Exporter) drain(batch []Span) {
	for {
		select {
		case s := <-e.spans:
			if batch = append(batch, s); len(batch) >= batched {
				batch = e.send(batch)
			}
		default:
			if len(batch) > 0 {
				e.send(batch)
			}
			return
		}
	}
}

// send sends a batch and returns it empty. A batch that is refused is dropped.
func (e *Exporter) send(batch []Span) []Span {
	ctx := context.Background() //nolint:forbidigo // the client has a timeout
	err := e.post(ctx, encode(e.cfg.Resource, batch))
	if dropped := e.dropped.Swap(0); dropped > 0 {
		e.cfg.Logger.WarnContext(ctx, "too many spans; dropped some", "dropped", dropped)
	}
	if err != nil && !e.failing {
		e.cfg.Logger.WarnContext(ctx, "sending spans failed; dropping them until it succeeds", "error", err)
	} else if err == nil && e.failing {
		e.cfg.Logger.InfoContext(ctx, "sending spans succeeds again")
	}
	e.failing = err != nil
	return batch[:0]
}

func (e *Exporter) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range e.cfg.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	resp, err := e.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // keeps the connection
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("the collector answered %s", resp.Status)
	}
	return nil
}

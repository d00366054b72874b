package routefeed

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	firstRetry  = 100 * time.Millisecond
	maxRetry    = time.Second
	reportEvery = time.Second
	reportLimit = 5 * time.Second
	// maxRefusal is how many bytes of a refusal are read.
	maxRefusal = 200
)

// errRefused is an answer after which another try is useless until an operator acts.
var errRefused = errors.New("the server refuses this gateway")

// ClientConfig configures a Client. Every field is required.
type ClientConfig struct {
	URL      string // of the server, without a path
	Token    svc.Secret
	HTTP     *http.Client // without a time limit
	Instance string       // names this process
	Name     string       // for people
	Build    string
	Table    *Table
	Logger   *slog.Logger
	// Numbers returns the gateway's numbers for a report: Listens, Inflight, Websockets.
	Numbers func() Report
}

// Client keeps a table like the server's log, and reports to the server.
type Client struct {
	cfg ClientConfig
	out *outbox

	mu    sync.Mutex
	state ClientState
}

// ClientState describes the connection with the server.
type ClientState struct {
	Connected  bool      `json:"connected"`
	Since      time.Time `json:"since"`           // since when it is connected, or not
	Generation uint64    `json:"generation"`      // of the routes; 0 before the first
	Error      string    `json:"error,omitempty"` // of the last try, while there is no connection
}

// NewClient returns a client. It starts nothing.
func NewClient(cfg ClientConfig) *Client {
	return &Client{cfg: cfg, out: newOutbox(), state: ClientState{Since: time.Now()}}
}

// State returns the state of the connection.
func (c *Client) State() ClientState {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	s.Generation = c.cfg.Table.Generation()
	return s
}

// Finished adds a finished request to the next report.
func (c *Client) Finished(r Request) { c.out.finished(r) }

// Counted counts a finished request that another gateway reports.
func (c *Client) Counted() { c.out.counted() }

// Rouse asks the server to start a version that sleeps.
func (c *Client) Rouse(ref svc.Ref) {
	c.out.ask(func(r *Report) *[]svc.Ref { return &r.Rouse }, ref)
}

// Asked tells the server of a request to a version that is restarted after a wait.
func (c *Client) Asked(ref svc.Ref) {
	c.out.ask(func(r *Report) *[]svc.Ref { return &r.Asked }, ref)
}

// Run keeps the table up to date until ctx ends, whose cause it then returns, or until the
// server has other host names: ErrHosts.
func (c *Client) Run(ctx context.Context) error {
	var reports sync.WaitGroup
	defer reports.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reports.Go(func() { c.report(ctx) })
	for retry := (backoff.Backoff{First: firstRetry, Max: maxRetry, Jitter: 0.5}); ; {
		began := time.Now()
		err := c.follow(ctx)
		if errors.Is(err, ErrHosts) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if c.lost(err); time.Since(began) > maxRetry {
			retry.Reset()
		}
		delay := retry.Next()
		c.cfg.Logger.WarnContext(ctx, "no connection with the server; serving with the last routes and retrying", "error", err, "retry_in", delay)
		if err := backoff.Sleep(ctx, delay); err != nil {
			return err
		}
	}
}

// lost records that there is no connection.
func (c *Client) lost(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.Connected {
		c.state.Connected, c.state.Since = false, time.Now()
	}
	c.state.Error = err.Error()
}

func (c *Client) found() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.state.Connected {
		c.state = ClientState{Connected: true, Since: time.Now()}
	}
}

// follow applies one stream until it ends, or until it is silent for SilentAfter.
func (c *Client) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(SilentAfter, func() { cancel(fmt.Errorf("the server was silent for %s", SilentAfter)) })
	defer silent.Stop()
	q := url.Values{"instance": {c.cfg.Instance}, "name": {c.cfg.Name}, "build": {c.cfg.Build}}
	answer, err := c.send(ctx, http.MethodGet, FeedPath+"?"+q.Encode(), nil)
	if err != nil {
		return cmpCause(ctx, err)
	}
	defer answer.Body.Close()
	for lines := json.NewDecoder(bufio.NewReader(answer.Body)); ; {
		var l Line
		if err := lines.Decode(&l); err != nil {
			return cmpCause(ctx, err)
		}
		silent.Reset(SilentAfter)
		if err := c.cfg.Table.Apply(&l); err != nil {
			return err
		}
		if l.Kind == kindReady {
			c.found()
			c.cfg.Logger.InfoContext(ctx, "routes received", "generation", l.Generation)
		}
	}
}

// cmpCause returns the cause of the end of ctx, if it has ended, in place of err.
func cmpCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// send sends a request and returns an answer with a status below 300.
func (c *Client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.cfg.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.cfg.Token.Reveal())
	answer, err := c.cfg.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode < http.StatusMultipleChoices {
		return answer, nil
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return nil, fmt.Errorf("%w: %s: %q", errRefused, answer.Status, line)
}

// report sends reports until ctx ends.
func (c *Client) report(ctx context.Context) {
	every := time.NewTicker(reportEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-c.out.soon:
		case <-ctx.Done():
			return
		}
		if !c.State().Connected {
			continue
		}
		c.sendReport(ctx)
	}
}

// Flush sends what is left to report, before the process ends.
func (c *Client) Flush(ctx context.Context) { c.sendReport(ctx) }

func (c *Client) sendReport(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reportLimit)
	defer cancel()
	r, n := c.out.take(), c.cfg.Numbers()
	r.Instance, r.Generation = c.cfg.Instance, c.cfg.Table.Generation()
	r.Listens, r.Inflight, r.Websockets = n.Listens, n.Inflight, n.Websockets
	body, err := json.Marshal(&r)
	if err == nil {
		var answer *http.Response
		if answer, err = c.send(ctx, http.MethodPost, ReportPath, body); err == nil {
			_ = answer.Body.Close()
			return
		}
	}
	c.out.back(r)
	c.cfg.Logger.DebugContext(ctx, "a report was not sent; the next one has its content", "error", err)
}

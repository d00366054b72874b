package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

const (
	requestTimeout = 60 * time.Second // of one API call; uploads have none
	maxAnswer      = 64 << 20         // bytes of one answer that are read
)

// Tokens are the two credentials of the service. A client that is given only
// one of them uses it for both roles. spec: Authentication.
type Tokens struct {
	Deploy string // may create versions
	Admin  string // may do everything else
}

// String hides the tokens from %v.
func (Tokens) String() string { return "[redacted]" }

// GoString hides the tokens from %#v.
func (Tokens) GoString() string { return "[redacted]" }

// Options change how a Client talks. The zero value is right for most.
type Options struct {
	HTTP      *http.Client // nil for one with a timeout of a minute per call
	UserAgent string       // "" for "svcctl-go"
}

// Client calls one service.
type Client struct {
	server  string // without a trailing slash
	tokens  Tokens
	agent   string
	raw     *Raw
	slow    *Raw // for calls that take as long as they take
	uploads *http.Client
}

// New makes a client of the service at server, "http://host:port" or a URL
// with a path that stands before /v1. It does not connect.
func New(server string, tokens Tokens, opts Options) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the server's address must be a URL like http://127.0.0.1:8790, not %q", server)
	}
	if tokens.Deploy == "" {
		tokens.Deploy = tokens.Admin
	}
	if tokens.Admin == "" {
		tokens.Admin = tokens.Deploy
	}
	c := &Client{server: strings.TrimRight(server, "/"), tokens: tokens, agent: opts.UserAgent}
	if c.agent == "" {
		c.agent = "svcctl-go"
	}
	calls := opts.HTTP
	if calls == nil {
		calls = &http.Client{Timeout: requestTimeout, CheckRedirect: noRedirect}
	}
	upload := *calls
	upload.Timeout = 0
	c.uploads = &upload
	c.raw = &Raw{Server: c.server + "/v1/", Client: retrier{calls}, RequestEditors: []RequestEditorFn{c.identify}}
	c.slow = &Raw{Server: c.raw.Server, Client: c.uploads, RequestEditors: c.raw.RequestEditors}
	return c, nil
}

// Server is the address the client was made for.
func (c *Client) Server() string { return c.server }

// noRedirect keeps credentials where they were meant to go: the API never
// redirects.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// identify adds who asks, with the credential of the admin role unless the
// call has chosen another.
func (c *Client) identify(_ context.Context, req *http.Request) error {
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", "application/json, application/problem+json")
	if c.tokens.Admin != "" && req.Header.Get("Authorization") == "" {
		req.Header.Set("Authorization", "Bearer "+c.tokens.Admin)
	}
	return nil
}

// asDeployer makes a call with the deploy token. It runs after identify.
func (c *Client) asDeployer(_ context.Context, req *http.Request) error {
	if c.tokens.Deploy != "" {
		req.Header.Set("Authorization", "Bearer "+c.tokens.Deploy)
	}
	return nil
}

// anonymous makes a call without a token.
func anonymous(_ context.Context, req *http.Request) error {
	req.Header.Del("Authorization")
	return nil
}

// read takes what a generated call returned and gives the body of an answer
// that went well: one of 2xx or, for some calls, one more status. It closes the
// response.
func read(resp *http.Response, err error, alsoWell ...int) ([]byte, error) {
	if err != nil {
		return nil, transportError(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, transportError(err)
	}
	isProblem := strings.HasPrefix(resp.Header.Get("Content-Type"), api.ProblemContentType)
	if ok := resp.StatusCode/100 == 2 || slices.Contains(alsoWell, resp.StatusCode); !ok || isProblem {
		return nil, refusal(resp, body)
	}
	return body, nil
}

// as reads the JSON of an answer.
func as[T any](body []byte, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("the answer is not what the API promises: %w", err)
	}
	return v, nil
}

// transportError tells a service that does not answer from a caller who gave up.
func transportError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !isTimeout(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// isTimeout reports whether the HTTP client's own time limit ended the call;
// it says so by a message of net/http, the context's error has none.
func isTimeout(err error) bool {
	return strings.Contains(err.Error(), "Client.Timeout")
}

// or gives nil for the zero value: an optional parameter is left out.
func or[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

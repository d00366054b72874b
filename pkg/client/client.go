package client

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

const (
	requestTimeout = 60 * time.Second           // of one API call; calls that carry files have none
	octets         = "application/octet-stream" // media type of files and values
	bearer         = "Bearer "                  // before a token in the header Authorization
)

// Tokens are the credentials of the two roles. If one is "", the other stands in
// for it.
type Tokens struct {
	Deploy string // creates versions, and nothing else
	Admin  string // does everything else
}

// String hides the tokens from %v.
func (Tokens) String() string { return "[redacted]" }

// GoString hides the tokens from %#v.
func (Tokens) GoString() string { return "[redacted]" }

// Options configure a Client. The zero value is right for most programs.
type Options struct {
	// HTTP sends the requests; nil for a client with a timeout of one minute that
	// follows no redirect. Its Timeout does not apply to calls that carry files
	// or wait for an archive: their only time limit is the context.
	HTTP      *http.Client
	UserAgent string         // "" for "svcctl-go"
	Actor     string         // name for the audit record of changes (header Svc-Actor); "" for none
	RootCAs   *x509.CertPool // of an https server; nil for those of the system. Ignored if HTTP is set
	Force     bool           // change data of read-only projects, too

	// Silent is called when the service has been silent for two seconds while a call waits for
	// its answer, once until the next answer. The call fails with [ErrUnreachable] when the
	// silence lasts ten seconds. nil for neither. A call that takes its time is not silence: the service
	// is asked for its health meanwhile.
	Silent func(time.Duration)
}

// Client calls the API of one service. Make one with [New].
type Client struct {
	server  string // without a trailing slash
	tokens  Tokens
	agent   string
	actor   string
	force   forceParam
	worker  string
	renamed bool
	calls   *http.Client
	quick   retrier
	slow    listener // for calls whose only time limit is the context
	uploads *http.Client
	silent  func(time.Duration)
}

// New returns a client of the service at server: "http://host:port", or a URL
// whose path precedes /v1. It does not connect. The error is of the address.
func New(server string, tokens Tokens, opts Options) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the server's address must be a URL like http://127.0.0.1:8790, not %q", server)
	}
	tokens.Deploy = cmp.Or(tokens.Deploy, tokens.Admin)
	tokens.Admin = cmp.Or(tokens.Admin, tokens.Deploy)
	calls := opts.HTTP
	if calls == nil {
		calls = &http.Client{Timeout: requestTimeout, CheckRedirect: noRedirect, Transport: transport(opts.RootCAs)}
	}
	c := connect(strings.TrimRight(server, "/"), tokens, cmp.Or(opts.UserAgent, "svcctl-go"), calls, opts.Silent)
	c.actor, c.force = opts.Actor, forceParam{or(opts.Force)}
	return c, nil
}

func connect(server string, tokens Tokens, agent string, calls *http.Client, silent func(time.Duration)) *Client {
	c := &Client{server: server, tokens: tokens, agent: agent, calls: calls, silent: silent}
	upload := *calls
	upload.Timeout = 0
	c.uploads = &upload
	listen := listener{next: calls, server: server, silent: silent, told: &atomic.Bool{}, records: true}
	c.quick = retrier{listen}
	listen.next, listen.records = c.uploads, false
	c.slow = listen
	return c
}

// WithTicket returns a client that sends a poll ticket, which [Client.CreateVersion]
// returned, instead of a token. It can read that version, and [Client.Wait] for it.
func (c *Client) WithTicket(t api.PollTicket) *Client {
	reader := connect(c.server, Tokens{Deploy: t.Token, Admin: t.Token}, c.agent, c.calls, c.silent)
	reader.actor = c.actor
	return reader
}

// ForWorker returns a client whose [Client.CreateVersion] names the worker whose name the id of the project was
// made from. The server refuses a project that was made from another name, unless renamed.
func (c *Client) ForWorker(name string, renamed bool) *Client {
	named := *c
	named.worker, named.renamed = name, renamed
	return &named
}

// transport is the standard one; roots nil leaves its certificates alone.
func transport(roots *x509.CertPool) http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok || roots == nil {
		return http.DefaultTransport
	}
	own := standard.Clone()
	own.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return own
}

// Server returns the address of the service, without a trailing slash.
func (c *Client) Server() string { return c.server }

// noRedirect keeps credentials from another server: the API never redirects.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// identify adds the headers of every call, with the admin token.
func (c *Client) identify(req *http.Request) {
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", "application/json, application/problem+json")
	if c.actor != "" {
		req.Header.Set("Svc-Actor", c.actor)
	}
	if c.tokens.Admin != "" {
		req.Header.Set("Authorization", bearer+c.tokens.Admin)
	}
}

// asDeployer makes a call with the deploy token. It runs after identify.
func (c *Client) asDeployer(req *http.Request) {
	if c.tokens.Deploy != "" {
		req.Header.Set("Authorization", bearer+c.tokens.Deploy)
	}
}

// anonymous makes a call without a token.
func anonymous(req *http.Request) { req.Header.Del("Authorization") }

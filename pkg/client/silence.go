package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// silenceNotice is after how long Options.Silent is called.
	silenceNotice = 2 * time.Second
	// silenceLimit ends a call.
	silenceLimit = 10 * time.Second
	// silencePause is between two looks at a call, and the time limit of a probe.
	silencePause = time.Second
	// smallBody is the largest request whose time of transfer does not matter.
	smallBody = 64 << 10
)

// errSilent ends a call whose service is silent.
var errSilent = errors.New("no answer for " + silenceLimit.String())

// listener sends requests, and watches for a service that accepts them and says nothing.
//
// A call that reads a record is answered immediately by a service that works: silence about it
// counts. Another call may take its time. It counts as silence when the service does not answer a
// question for its health either.
type listener struct {
	next    *http.Client
	server  string
	silent  func(time.Duration) // nil to watch nothing
	told    *atomic.Bool        // silent was called since the last answer
	records bool                // calls may read records
}

// Do sends a request.
func (l listener) Do(req *http.Request) (*http.Response, error) {
	if l.silent == nil || req.Body != nil && (req.ContentLength < 0 || req.ContentLength > smallBody) {
		return l.next.Do(req)
	}
	ctx, end := context.WithCancelCause(req.Context())
	waiting, answered := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		l.watch(waiting, l.records && isRecord(req), end)
	}()
	resp, err := l.next.Do(req.WithContext(ctx))
	answered()
	<-watched
	if err != nil {
		silent := errors.Is(context.Cause(ctx), errSilent)
		end(nil)
		if silent {
			return nil, &url.Error{Op: req.Method, URL: req.URL.String(), Err: errSilent}
		}
		return nil, err
	}
	l.told.Store(false)
	resp.Body = &endingBody{resp.Body, end}
	return resp, nil
}

// watch looks at a call until ctx ends, and ends the call of a silent service.
func (l listener) watch(ctx context.Context, record bool, end context.CancelCauseFunc) {
	for heard := time.Now(); sleep(ctx, silencePause) == nil; {
		if !record && l.lives(ctx) {
			heard = time.Now()
			continue
		}
		silence := time.Since(heard)
		switch {
		case ctx.Err() != nil:
			return
		case silence >= silenceLimit:
			end(errSilent)
			return
		case silence >= silenceNotice && l.told.CompareAndSwap(false, true):
			l.silent(silence)
		}
	}
}

// lives reports whether the service, or what stands before it, answers anything now.
func (l listener) lives(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, silencePause)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.server+"/v1/health", http.NoBody)
	if err != nil {
		return false
	}
	resp, err := l.next.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return true
}

// isRecord reports whether a request reads what the service has in its registry. Data of versions
// may have to be fetched, and plans and audits compare it.
func isRecord(req *http.Request) bool {
	_, path, _ := strings.Cut(req.URL.Path, "/v1/")
	parts := strings.Split(path, "/")
	if req.Method != http.MethodGet || parts[0] == "admin" || path == "health/deep" {
		return false
	}
	if parts[0] != "projects" || len(parts) < 3 {
		return true
	}
	switch parts[2] {
	case "versions":
		return len(parts) <= 4
	case "compare", "logs":
		return false
	}
	return true
}

// endingBody releases the context of its request.
type endingBody struct {
	io.ReadCloser

	end context.CancelCauseFunc
}

// Close closes the body.
func (b *endingBody) Close() error {
	err := b.ReadCloser.Close()
	b.end(nil)
	return err
}

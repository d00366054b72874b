package dashboard

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// local calls a handler in the same process for a browser's request: it implements
// http.RoundTripper. The handler sees the address of the browser and the host name by
// which the browser reached the server.
type local struct {
	handler http.Handler
	from    *http.Request
}

// RoundTrip returns when the handler has written its header. The handler runs until it
// returns, or until the context of the request ends or the body of the response is closed.
func (l local) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	in := r.Clone(ctx)
	in.RemoteAddr, in.RequestURI = l.from.RemoteAddr, r.URL.RequestURI()
	in.Header["X-Forwarded-For"] = l.from.Header["X-Forwarded-For"] // a proxy's, if RemoteAddr is one
	if in.Header.Set("X-Forwarded-Proto", "http"); secure(l.from) {
		in.Header.Set("X-Forwarded-Proto", "https")
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	body, writer := io.Pipe()
	context.AfterFunc(ctx, func() { _ = body.CloseWithError(context.Cause(ctx)) }) // the handler stops writing; it returns nil
	answer := &answer{header: http.Header{}, body: writer, begun: make(chan struct{})}
	go answer.run(l.handler, in)
	select {
	case <-answer.begun:
	case <-ctx.Done():
		cancel()
		return nil, context.Cause(ctx)
	}
	return &http.Response{
		StatusCode: answer.status, Status: http.StatusText(answer.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.sent, Body: closer{body, cancel}, ContentLength: -1, Request: r,
	}, nil
}

// closer ends the handler when the body is closed.
type closer struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (c closer) Close() error {
	defer c.cancel()
	return c.PipeReader.Close()
}

// answer is the http.ResponseWriter of a local call. Only the handler's goroutine uses
// it; sent and status may be read by others when begun is closed.
type answer struct {
	header, sent http.Header
	status       int
	once         sync.Once
	begun        chan struct{}
	body         *io.PipeWriter
}

// run calls the handler and ends the body.
func (a *answer) run(h http.Handler, r *http.Request) {
	defer func() {
		a.WriteHeader(http.StatusOK)
		var err error
		if p := recover(); p != nil {
			err = errors.New("the API aborted its answer")
		}
		_ = a.body.CloseWithError(err) // it returns nil
	}()
	h.ServeHTTP(a, r)
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.begun)
	})
}

// Write implements http.ResponseWriter. It waits until the reader has taken p.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush implements http.Flusher: nothing is kept back.
func (a *answer) Flush() { a.WriteHeader(http.StatusOK) }

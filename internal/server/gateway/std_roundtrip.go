package gateway

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/server/gateway/http1"
)

// roundTrip sends the request and reads the head of the answer. It repeats
// requests, and fails, as conn.roundTrip does.
func (x *stdExchange) roundTrip(ctx context.Context) error {
	if x.head == nil { // else it is tried again
		x.head = x.appendRequest(nil, &x.c.peer)
	}
	for again := false; ; again = true {
		up, err := x.claim.upstream.get(ctx, time.Now(), again)
		if err != nil {
			return fmt.Errorf("%w: %w", errUnreachable, err)
		}
		x.attach(ctx, up)
		written, err := up.Write(x.head)
		if err == nil {
			err = x.answerHead()
		}
		if err == nil {
			return nil
		}
		x.dropUpstream()
		switch {
		case ctx.Err() != nil:
			return errClientGone
		case up.reused && !again && (written == 0 || x.repeatable()):
		default:
			return errBroken(err)
		}
	}
}

// repeatable is exchange.repeatable for this engine.
func (x *stdExchange) repeatable() bool {
	return (x.r.Method == http.MethodGet || x.r.Method == http.MethodHead) && !x.req.HasBody() && !x.heard
}

// attach makes up the connection that the end of the client's context closes,
// which cancels the worker's work.
func (x *stdExchange) attach(ctx context.Context, up *upconn) {
	x.up = up
	x.release = context.AfterFunc(ctx, func() { _ = up.Close() })
	x.limit.R = up
	x.in.Reset(&x.limit)
}

func (x *stdExchange) dropUpstream() {
	x.release()
	_ = x.up.Close()
}

// answerHead starts to pass the body on and reads until the head of the final
// answer is there. Interim answers go to the client; a client that expects one
// has its body read when the runtime has asked for it.
func (x *stdExchange) answerHead() error {
	if !x.req.WantsContinue() {
		x.startUpload()
	}
	for {
		x.limit.N = maxResponseHead
		if _, err := x.in.Peek(1); err != nil {
			return err
		}
		x.heard = true
		answer, err := http.ReadResponse(x.in, x.r) //nolint:bodyclose // its connection is closed, or read to its end
		if err != nil {
			return err
		}
		if answer.Close {
			answer.Header.Add("Connection", "close") // ReadResponse has taken it out
		}
		if err := x.resp.Parse(appendHead(nil, answer.Proto+" "+answer.Status, answer.Header, answer.TransferEncoding)); err != nil {
			return err
		}
		if x.resp.Status >= 200 || x.resp.Status == http.StatusSwitchingProtocols {
			x.limit.N = math.MaxInt64
			x.answer = answer
			return nil
		}
		if err := x.interim(); err != nil {
			return err
		}
	}
}

// interim passes a 1xx answer on, to clients that know of such.
func (x *stdExchange) interim() error {
	if x.req.Minor == 1 {
		if err := x.setHeader(append(appendFields(appendStatus(nil, &x.resp), &x.resp), '\r', '\n')); err != nil {
			return err
		}
		x.w.WriteHeader(x.resp.Status)
	}
	if x.resp.Status == http.StatusContinue {
		x.startUpload()
	}
	return nil
}

// relay sends the answer to the client, gives up the claim and finishes with
// both connections. It reports whether the answer is whole.
func (x *stdExchange) relay(ctx context.Context) (whole bool) {
	defer x.claim.release()
	x.status = x.resp.Status
	from, to := x.framing()
	keep := x.req.KeepsAlive() && to != byClose && !x.e.closing.Load()
	err := x.setHeader(x.appendResponse(nil, to, keep))
	if err == nil {
		x.w.WriteHeader(x.status)
		err = x.relayBody(to)
	}
	if err != nil {
		_ = x.rc.Flush() // what has come, as far as the client takes it
		x.breakOff(x.c.Conn, to, ctx.Err() != nil)
		x.dropUpstream()
		x.stopUpload(0)
		return false
	}
	x.leaveUpstream(from)
	return x.finish(to, keep)
}

// relayBody sends the body, each piece as it comes, and the trailers.
func (x *stdExchange) relayBody(to framing) error {
	if to == byClose {
		_ = x.rc.Flush() // lest net/http finds a length for it
	}
	home, _ := x.e.buffers.Get().(*[]byte)
	defer x.e.buffers.Put(home)
	for buf := *home; ; {
		if x.in.Buffered() == 0 {
			if err := x.rc.Flush(); err != nil {
				return err
			}
		}
		n, err := x.answer.Body.Read(buf)
		if n > 0 {
			if _, err := x.w.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return x.trailers(to)
		}
		if err != nil {
			return err
		}
	}
}

// trailers passes the trailer section on, less what has no place in one.
func (x *stdExchange) trailers(to framing) error {
	if to != byChunks || len(x.answer.Trailer) == 0 {
		return nil
	}
	var resp http1.Response
	if err := resp.Parse(appendHead(nil, "HTTP/1.1 200 OK", x.answer.Trailer, nil)); err != nil {
		return err
	}
	for _, f := range resp.List {
		if f.Kind == http1.Other {
			x.w.Header().Add(http.TrailerPrefix+string(f.Name), string(f.Value))
		}
	}
	return nil
}

// leaveUpstream keeps the runtime's connection if it is behind the answer, and
// the runtime has all of the body; else it closes it.
func (x *stdExchange) leaveUpstream(from framing) {
	if x.bodyRead.Load() { // on its way, most likely
		select {
		case <-x.uploaded:
		case <-time.After(patience):
		}
	}
	if x.in.Buffered() == 0 && from != byClose && x.resp.KeepsAlive() && x.passed.Load() && x.release() {
		x.claim.upstream.put(x.up, time.Now())
		return
	}
	x.dropUpstream()
}

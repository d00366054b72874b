package gateway

import (
	"context"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

// roundTrip sends the request and reads the head of the response. It sends a request
// once, and returns errors, like conn.roundTrip.
func (x *stdExchange) roundTrip(ctx context.Context) error {
	if x.head == nil { // else this is a repetition
		x.head = x.appendRequest(nil, &x.c.peer)
	}
	for sent, again := false, false; ; again = true {
		up, err := x.claim.upstream.get(ctx, &x.claim, time.Now(), again)
		if err != nil {
			return notSent(sent, err)
		}
		x.attach(ctx, up)
		written, err := up.send(&x.claim, x.req.HasBody(), x.head)
		if err == nil {
			err = x.answerHead()
		}
		if err == nil {
			return nil
		}
		x.dropUpstream()
		sent = (sent || written > 0) && !notAdmitted(err)
		failure := x.clientFailure(ctx)
		switch {
		case failure != nil:
			return failure
		case again || !up.reused || moved(err) || sent && !x.unseen(err):
			return notSent(sent, err)
		}
	}
}

// clientFailure returns why the client's side has failed, nil if it has not.
func (x *stdExchange) clientFailure(ctx context.Context) error {
	gone := ctx.Err() != nil
	if gone && x.uploaded != nil {
		<-x.uploaded // net/http ends the context before it reports why the body failed
	}
	switch {
	case x.c.late.Load():
		return errHandshake(x.e.cfg.ClientTimeout)
	case x.bodyErr.Load() != nil:
		return x.bodyErr.Load()
	case gone:
		return errClientGone
	}
	return nil
}

// attach makes up the connection that is closed when the client's context ends,
// which cancels the worker.
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

// answerHead starts to forward the body and reads the head of the final response. It
// forwards interim responses to the client. The body of a client that expects 100
// (Continue) is read when the runtime has sent that.
func (x *stdExchange) answerHead() error {
	if !x.req.WantsContinue() {
		x.startUpload()
	}
	for {
		x.limit.N = maxResponseHead
		answer, err := http.ReadResponse(x.in, x.r) //nolint:bodyclose // the connection is closed, or read to the end of the body
		if err != nil {
			return err
		}
		if answer.Close {
			answer.Header.Add("Connection", "close") // ReadResponse has removed it
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

// interim forwards a 1xx response to a client of HTTP/1.1.
func (x *stdExchange) interim() error {
	x.c.answered(&x.request)
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

// relay sends the response to the client, releases the claim and leaves both
// connections. It reports whether the response is complete.
func (x *stdExchange) relay(ctx context.Context) (whole bool) {
	defer x.claim.release()
	x.status = x.resp.Status
	x.e.startCompressing(&x.request)
	defer x.e.endCompressing(&x.request)
	from, to := x.framing()
	x.to, x.keep = to, x.keeps() && to != byClose
	x.c.answered(&x.request)
	err := x.setHeader(x.appendResponse(nil, to, x.keep))
	if err == nil {
		x.w.WriteHeader(x.status)
		err = x.relayBody(to)
	}
	if err != nil {
		_ = x.rc.Flush() // the part that has arrived
		x.c.breakOff(&x.request, to, ctx.Err() != nil || x.bodyErr.Load() != nil)
		x.dropUpstream()
		x.stopUpload(0)
		return false
	}
	x.leaveUpstream(from)
	return true
}

// relayBody sends the body, each piece when it arrives, and the trailers.
func (x *stdExchange) relayBody(to framing) error {
	if to == byClose {
		_ = x.rc.Flush() // otherwise net/http might set a Content-Length
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
		if n > 0 || err == io.EOF {
			if err := x.sendPiece(buf[:n], err == io.EOF); err != nil {
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

// sendPiece sends a piece of the body, compressed if that was chosen.
func (x *stdExchange) sendPiece(b []byte, last bool) error {
	if z := x.compressor; z != nil {
		if err := z.add(b, x.in.Buffered() == 0, last); err != nil {
			return err
		}
		b = z.out.Bytes()
		defer z.out.Reset()
	}
	if len(b) == 0 {
		return nil
	}
	n, err := x.w.Write(b)
	x.sent += int64(n)
	return err
}

// trailers forwards the trailer section without the fields that are not allowed in
// one.
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

// leaveUpstream keeps the runtime's connection if it is at the end of the response
// and the runtime has received the whole body; else it closes the connection.
func (x *stdExchange) leaveUpstream(from framing) {
	if x.bodyRead.Load() { // pump is probably writing the last piece
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

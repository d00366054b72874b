package gateway

import (
	"context"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
	"github.com/svcctl/svcctl/internal/edge/http1"
)

// roundTrip sends the request and reads the head of the response. It sends a request
// once, and returns errors, like the engine go.
func (x *stdExchange) roundTrip(ctx context.Context) error {
	if x.head == nil { // else this is a repetition
		x.head = x.AppendRequest(nil, &x.c.peer)
	}
	for sent, again := false, false; ; again = true {
		up, err := x.Claim.Upstream.Get(ctx, &x.Claim, time.Now(), again)
		if err != nil {
			return exchange.NotSent(sent, err)
		}
		x.attach(ctx, up)
		written, err := up.Send(&x.Claim, x.Req.HasBody(), x.head)
		if err == nil {
			err = x.answerHead()
		}
		if err == nil {
			return nil
		}
		x.dropUpstream()
		sent = (sent || written > 0) && !route.NotAdmitted(err)
		failure := x.clientFailure(ctx)
		switch {
		case failure != nil:
			return failure
		case again || !up.Reused || route.Moved(err) || sent && !x.Unseen(err):
			return exchange.NotSent(sent, err)
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
	case x.c.Late.Load():
		return exchange.ErrHandshake(x.e.Config.ClientTimeout)
	case x.bodyErr.Load() != nil:
		return x.bodyErr.Load()
	case gone:
		return route.ErrClientGone
	}
	return nil
}

// attach makes up the connection that is closed when the client's context ends,
// which cancels the worker.
func (x *stdExchange) attach(ctx context.Context, up *route.UpConn) {
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
	if !x.Req.WantsContinue() {
		x.startUpload()
	}
	for {
		x.limit.N = conn.MaxResponseHead
		answer, err := http.ReadResponse(x.in, x.r) //nolint:bodyclose // the connection is closed, or read to the end of the body
		if err != nil {
			return err
		}
		if answer.Close {
			answer.Header.Add("Connection", "close") // ReadResponse has removed it
		}
		if err := x.Resp.Parse(appendHead(nil, answer.Proto+" "+answer.Status, answer.Header, answer.TransferEncoding)); err != nil {
			return err
		}
		if x.Resp.Status >= 200 || x.Resp.Status == http.StatusSwitchingProtocols {
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
	x.c.Answered(&x.Request)
	if x.Req.Minor == 1 {
		if err := x.setHeader(append(exchange.AppendFields(exchange.AppendStatus(nil, &x.Resp), &x.Resp), '\r', '\n')); err != nil {
			return err
		}
		x.w.WriteHeader(x.Resp.Status)
	}
	if x.Resp.Status == http.StatusContinue {
		x.startUpload()
	}
	return nil
}

// relay sends the response to the client, releases the claim and leaves both
// connections. It reports whether the response is complete.
func (x *stdExchange) relay(ctx context.Context) (whole bool) {
	defer x.Claim.Release()
	x.Status = x.Resp.Status
	x.e.StartCompressing(&x.Request)
	defer x.e.EndCompressing(&x.Request)
	from, to := x.Framing()
	x.to, x.keep = to, x.keeps() && to != exchange.ByClose
	x.c.Answered(&x.Request)
	err := x.setHeader(x.AppendResponse(nil, to, x.keep))
	if err == nil {
		x.w.WriteHeader(x.Status)
		err = x.relayBody(to)
	}
	if err != nil {
		_ = x.rc.Flush() // the part that has arrived
		x.c.BreakOff(&x.Request, to, ctx.Err() != nil || x.bodyErr.Load() != nil)
		x.dropUpstream()
		x.stopUpload(0)
		return false
	}
	x.leaveUpstream(from)
	return true
}

// relayBody sends the body, each piece when it arrives, and the trailers.
func (x *stdExchange) relayBody(to exchange.Framing) error {
	if to == exchange.ByClose {
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
	if z := x.Compressor; z != nil {
		if err := z.Add(b, x.in.Buffered() == 0, last); err != nil {
			return err
		}
		b = z.Out.Bytes()
		defer z.Out.Reset()
	}
	if len(b) == 0 {
		return nil
	}
	n, err := x.w.Write(b)
	x.Sent += int64(n)
	return err
}

// trailers forwards the trailer section without the fields that are not allowed in
// one.
func (x *stdExchange) trailers(to exchange.Framing) error {
	if to != exchange.ByChunks || len(x.answer.Trailer) == 0 {
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
func (x *stdExchange) leaveUpstream(from exchange.Framing) {
	if x.bodyRead.Load() { // pump is probably writing the last piece
		select {
		case <-x.uploaded:
		case <-time.After(conn.Patience):
		}
	}
	if x.in.Buffered() == 0 && from != exchange.ByClose && x.Resp.KeepsAlive() && x.passed.Load() && x.release() {
		x.Claim.Upstream.Put(x.up, time.Now())
		return
	}
	x.dropUpstream()
}

package gateway

import (
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/exchange"
)

// keeps is what the engine go has under this name.
func (x *stdExchange) keeps() bool {
	return x.Req.KeepsAlive() && !x.e.IsClosing() && (!x.Req.Chunked || !x.c.lengths.both.Load()) &&
		(x.bodyRead.Load() || conn.EndsSoon(&x.Request, x.c.Waits.Load()))
}

// finish reads the rest of a body that the worker did not read, so that the
// connection is at the next request, or makes the connection end after the response.
// net/http sends the end of a chunked response only when the handler returns, so
// finish waits for less time then.
func (x *stdExchange) finish() {
	switch {
	case len(x.Req.Method) == 0: // whether a body follows is unknown
		x.c.ended.Store(true)
		return
	case !x.Req.HasBody():
		return
	}
	patient := x.e.Linger().Time
	switch {
	case !x.keep:
		patient = 0
	case x.to == exchange.ByChunks:
		patient = conn.Patience
	}
	if x.keep && x.uploaded == nil {
		x.uploaded = make(chan struct{})
		go x.pump(nil)
	}
	x.stopUpload(patient)
	x.c.ended.Store(!x.bodyRead.Load())
}

// stopUpload waits until the body was read, at most d or until no byte of it arrives, and then
// ends the upload.
func (x *stdExchange) stopUpload(d time.Duration) {
	if x.uploaded == nil {
		return
	}
	if d > conn.Patience {
		_ = x.rc.Flush() // the client may wait for the response before it sends more
	}
	if !x.awaitUpload(d) {
		_ = x.rc.SetReadDeadline(time.Now())
		<-x.uploaded
	}
}

// awaitUpload waits as stopUpload does. It reports whether the upload has ended.
func (x *stdExchange) awaitUpload(d time.Duration) bool {
	silence := min(d, x.e.Config.LingerTime)
	for timer := time.NewTimer(silence); ; timer.Reset(silence) {
		before := x.arrived.Load()
		select {
		case <-x.uploaded:
			timer.Stop()
			return true
		case <-x.e.Stopped():
			timer.Stop()
			return false
		case <-timer.C:
			if d -= silence; d <= 0 || x.arrived.Load() == before {
				return false
			}
		}
	}
}

package gateway

import (
	"bytes"
	"context"
	"io"
)

// relayAsset sends the static file in x.asset. It reports whether the response is
// complete.
func (x *stdExchange) relayAsset() (whole bool) {
	x.status = x.resp.Status
	_, to := x.framing()
	keep := x.keeps()
	x.c.answered(&x.request)
	if x.setHeader(x.appendResponse(nil, to, keep)) != nil {
		return false
	}
	x.w.WriteHeader(x.status)
	var err error
	if x.sent, err = x.asset.send(x.w); err != nil {
		x.breakOff(&x.c.client, to, x.r.Context().Err() != nil)
		return false
	}
	x.to, x.keep = to, keep
	return true
}

// send writes the body to w and returns the number of bytes written.
func (a *asset) send(w io.Writer) (int64, error) {
	if a.file != nil {
		return io.Copy(w, io.NewSectionReader(a.file, a.Offset, a.Length))
	}
	n, err := w.Write(a.body())
	return int64(n), err
}

// explain makes the explanation of a response the response.
func (x *stdExchange) explain(ctx context.Context) {
	if body, ok := x.e.explain(ctx, &x.request); ok {
		x.answer.Body = io.NopCloser(bytes.NewReader(body))
	}
}

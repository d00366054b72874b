package gateway

import (
	"bytes"
	"context"
	"io"
)

// relayAsset sends the static file of x. It reports whether the response is
// complete.
func (x *stdExchange) relayAsset() (whole bool) {
	x.Status = x.Resp.Status
	_, to := x.Framing()
	keep := x.keeps()
	x.c.Answered(&x.Request)
	if x.setHeader(x.AppendResponse(nil, to, keep)) != nil {
		return false
	}
	x.w.WriteHeader(x.Status)
	var err error
	if x.Sent, err = x.sendAsset(); err != nil {
		x.c.BreakOff(&x.Request, to, x.r.Context().Err() != nil)
		return false
	}
	x.to, x.keep = to, keep
	return true
}

// sendAsset writes the body and returns the number of bytes written.
func (x *stdExchange) sendAsset() (int64, error) {
	if x.File != nil {
		return io.Copy(x.w, io.NewSectionReader(x.File, x.Static.Offset, x.Static.Length))
	}
	n, err := x.w.Write(x.AssetBody())
	return int64(n), err
}

// explain makes the explanation of a response the response.
func (x *stdExchange) explain(ctx context.Context) {
	if body, ok := x.e.Explain(ctx, &x.Request); ok {
		x.answer.Body = io.NopCloser(bytes.NewReader(body))
	}
}

package gateway

import (
	"bytes"
	"context"
	"io"
)

// relayAsset sends the static file of x. It reports whether the response is
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
	if x.sent, err = x.sendAsset(); err != nil {
		x.c.breakOff(&x.request, to, x.r.Context().Err() != nil)
		return false
	}
	x.to, x.keep = to, keep
	return true
}

// sendAsset writes the body and returns the number of bytes written.
func (x *stdExchange) sendAsset() (int64, error) {
	if x.file != nil {
		return io.Copy(x.w, io.NewSectionReader(x.file, x.static.Offset, x.static.Length))
	}
	n, err := x.w.Write(x.assetBody())
	return int64(n), err
}

// explain makes the explanation of a response the response.
func (x *stdExchange) explain(ctx context.Context) {
	if body, ok := x.e.explain(ctx, &x.request); ok {
		x.answer.Body = io.NopCloser(bytes.NewReader(body))
	}
}

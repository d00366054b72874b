package loop

// sendAsset answers with a static file from memory. A goroutine answers with any other one,
// and keeps it for the next request.
func (l *loop) sendAsset(c *loopClient) {
	x := c.x
	if !l.e.IsKept(&x.Request) {
		l.handOver(c, nil)
		return
	}
	var err error
	if x.part, err = x.AppendAnswer(x.part[:0]); err != nil { // x.Resp points at it
		l.handOver(c, nil)
		return
	}
	_, to := x.Framing()
	body := x.AssetBody()
	x.Status, x.Sent = x.Resp.Status, int64(len(body))
	x.keep = x.Req.KeepsAlive() && !l.e.IsClosing()
	l.out = append(x.AppendResponse(l.out[:0], to, x.keep), body...)
	if l.write(c, l.out) {
		l.complete(c)
	}
}

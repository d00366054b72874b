package gateway

// sendAsset answers with a static file from memory. A goroutine answers with any other one,
// and keeps it for the next request.
func (l *loop) sendAsset(c *loopClient) {
	x := c.x
	if !l.e.isKept(&x.request) {
		l.handOver(c, nil)
		return
	}
	var err error
	if x.part, err = x.appendAnswer(x.part[:0]); err != nil { // x.resp points at it
		l.handOver(c, nil)
		return
	}
	_, to := x.framing()
	body := x.assetBody()
	x.status, x.sent = x.resp.Status, int64(len(body))
	x.keep = x.req.KeepsAlive() && !l.e.isClosing()
	l.out = append(x.appendResponse(l.out[:0], to, x.keep), body...)
	if l.write(c, l.out) {
		l.complete(c)
	}
}

package gateway

// sendAsset answers with a static file from memory. A goroutine answers with any other one,
// and keeps it for the next request.
func (l *loop) sendAsset(c *loopClient) {
	x := c.x
	if !x.asset.isKept(&l.e.contents) {
		l.handOver(c, nil)
		return
	}
	x.part = appendAnswer(x.part[:0], &x.asset.Answer) // x.resp points at it
	if x.resp.Parse(x.part) != nil {
		l.handOver(c, nil)
		return
	}
	_, to := x.framing()
	body := x.asset.body()
	x.status, x.sent = x.resp.Status, int64(len(body))
	x.keep = x.req.KeepsAlive() && !l.e.closing.Load()
	l.out = append(x.appendResponse(l.out[:0], to, x.keep), body...)
	if l.write(c, l.out) {
		l.complete(c)
	}
}

package gateway

// relayAsset sends the static file of x, its first part together with the head. It
// sets x.whole and x.keep like relay.
func (c *conn) relayAsset(x *exchange) {
	defer x.claim.release()
	keep := c.keeps(x)
	c.nc.answered(&x.request)
	x.status = x.resp.Status
	_, to := x.framing()
	x.out = x.appendResponse(x.out[:0], to, keep)
	for at, end := x.static.Offset, x.static.Offset+x.assetLength(); ; {
		n, err := x.readAsset(x.buf[:min(int64(bufferSize), end-at)], at)
		if err == nil {
			x.out = append(x.out, x.buf[:n]...)
			err = c.send(x, x.out)
		}
		if err != nil {
			c.nc.breakOff(&x.request, to, c.isGone())
			return
		}
		x.sent += int64(n)
		if at += int64(n); at >= end {
			x.whole, x.keep = true, keep
			return
		}
		x.out = x.out[:0]
	}
}

package conn

// relayAsset sends the static file of x, its first part together with the head. It
// sets x.whole and x.keep like relay.
func (c *Conn) relayAsset(x *connExchange) {
	defer x.Claim.Release()
	keep := c.keeps(x)
	c.nc.Answered(&x.Request)
	x.Status = x.Resp.Status
	_, to := x.Framing()
	x.out = x.AppendResponse(x.out[:0], to, keep)
	for at, end := x.Static.Offset, x.Static.Offset+x.AssetLength(); ; {
		n, err := x.ReadAsset(x.buf[:min(int64(BufferSize), end-at)], at)
		if err == nil {
			x.out = append(x.out, x.buf[:n]...)
			err = c.send(x, x.out)
		}
		if err != nil {
			c.nc.BreakOff(&x.Request, to, c.isGone())
			return
		}
		x.Sent += int64(n)
		if at += int64(n); at >= end {
			x.whole, x.keep = true, keep
			return
		}
		x.out = x.out[:0]
	}
}

package supervisor_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestIdlePings: a version that does nothing is not pinged every PingEvery. It is pinged again
// when the gateway sends it a request, answered or not, and when its workerd works.
func TestIdlePings(t *testing.T) {
	t.Parallel()
	const quiet = 300 * time.Millisecond
	var pings, last, used atomic.Int64
	h := start(t, func(c *options) {
		c.PingEvery, c.PingIdle = 10*time.Millisecond, time.Hour
		c.OnEvents = func([]svc.EventCount) { pings.Add(1); last.Store(time.Now().UnixNano()) } // each pong
		c.LastUse = func(svc.Ref) time.Time { return time.Unix(0, used.Load()) }
	})
	e := h.mustServe(h.spec(hello, nil))
	idle := func() (before int64) {
		svctest.Eventually(t, "the pings to stop", func() bool {
			return time.Since(time.Unix(0, last.Load())) > quiet && pings.Load() > before
		})
		return pings.Load()
	}
	before := idle()
	used.Store(time.Now().UnixNano())
	svctest.Eventually(t, "a ping after a request of the gateway", func() bool { return pings.Load() > before })
	before = idle()
	h.want(e, "/", "hello")
	svctest.Eventually(t, "a ping after work", func() bool { return pings.Load() > before })
}

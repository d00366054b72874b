package machines_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/fleet/supervisor/supervisortest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// BenchmarkWays measures a request to a version of another machine: at the machine, and as its bytes
// pass the daemon. Only the way differs: no gateway has a part.
func BenchmarkWays(b *testing.B) {
	d := newDaemon(b, nil)
	s := d.supervise(b)
	d.join(b, 1, listens)
	spec := supervisortest.Spec(b, b.TempDir(), "v-1", `export default { fetch: () => new Response("hello") }`)
	e := s.open(b, spec)
	d.Permits(spec.Ref, e.PortKey).Grant(svc.RolePreview)
	v := visit(spec.Ref, e, svc.RolePreview)
	svctest.Succeeds(b, "an answer of the machine", func() error { return v.ask(b.Context()) })
	b.Run("machine", func(b *testing.B) {
		benchmarkWay(b, func(ctx context.Context) (net.Conn, error) { return relay.DialMachine(ctx, v.to) })
	})
	b.Run("daemon", func(b *testing.B) {
		benchmarkWay(b, func(ctx context.Context) (net.Conn, error) { return relay.DialSocket(ctx, e.Socket) })
	})
}

// benchmarkWay sends requests on connections that it keeps.
func benchmarkWay(b *testing.B, dial func(context.Context) (net.Conn, error)) {
	b.Helper()
	b.SetParallelism(8)
	b.RunParallel(func(p *testing.PB) {
		c, err := dial(b.Context())
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		for in := bufio.NewReader(c); p.Next(); {
			if err := exchange(c, in); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func exchange(c net.Conn, in *bufio.Reader) error {
	at, ok := c.(*relay.Conn)
	if ok {
		if err := at.Begin(svc.RolePreview, "", false, 0); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return err
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	_ = resp.Body.Close() // it was read
	if ok {
		return at.End()
	}
	return nil
}

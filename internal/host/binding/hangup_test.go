package binding_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// endless is a kind whose one instance answers /slow when the request's context ends,
// and /begun when /slow was asked.
type endless struct{ begun, canceled chan struct{} }

func newEndless() endless {
	return endless{begun: make(chan struct{}, 1), canceled: make(chan struct{})}
}

func (endless) Name() string               { return "slow" }
func (endless) Check(bundle.Binding) error { return nil }
func (endless) Close() error               { return nil }

func (s endless) Open(context.Context, bundle.Binding, volume.Volumes) (binding.Instance, error) {
	return s, nil
}

func (endless) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	return binding.Wiring{
		Binding:  workerd.Binding{Name: d.Name, Service: &workerd.ServiceRef{Name: "slow:"}},
		Services: []workerd.Service{s.Service("slow:", d)},
	}
}

func (s endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/slow" {
		s.begun <- struct{}{}
		<-r.Context().Done()
		close(s.canceled)
		return
	}
	<-s.begun
	binding.Reply(w, "text/plain", nil)
}

// A call that the worker cancels, or that its answer leaves behind,
// ends the context of its handler. Without a body: workerd may keep the connection of
// a canceled request open while it cannot send the rest of the body.
func TestCanceledByTheWorker(t *testing.T) {
	t.Parallel()
	const source = `export default { async fetch(req, env) {
		const c = new AbortController();
		const slow = env.API.fetch("http://api/slow", { signal: c.signal });
		slow.catch(() => {});
		await env.API.fetch("http://api/begun");
		if (req.url.endsWith("/leave")) return new Response("left");
		c.abort();
		return new Response(await slow.then(() => "answered", e => e.name));
	} }`
	for path, want := range map[string]string{"/abort": "AbortError", "/leave": "left"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := newEndless()
			set := bindingtest.OpenSet(t, nil, []binding.Kind{s}, bundle.Binding{Name: "API", Kind: "slow"})
			if got := bindingtest.Start(t, set, source).Post(t, path, ""); got != want {
				t.Errorf("the worker says %q", got)
			}
			<-s.canceled
		})
	}
}

func TestHangup(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"no body":   "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n",
		"half read": "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nbegins",
		"unread":    "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nwhole",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEndless()
			_, path := serve(t, t.Output(), s.ServeHTTP)
			conn, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
			if err := get(t, path, "/begun"); err != nil {
				t.Fatal(err)
			}
			select {
			case <-s.canceled:
				t.Error("it ended before")
			default:
			}
			_ = conn.Close()
			<-s.canceled
		})
	}
}

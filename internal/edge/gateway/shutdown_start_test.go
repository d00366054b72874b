package gateway_test

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
)

// asked is a context that calls a function when it is first asked for its end.
type asked struct {
	context.Context
	first func()
}

func (a asked) Done() <-chan struct{} {
	a.first()
	return a.Context.Done()
}

func TestShutdownAtStart(t *testing.T) { engines(t, testShutdownAtStart) }

// testShutdownAtStart: a shutdown that comes while Serve begins, before the engine has started, ends.
func testShutdownAtStart(t *testing.T, engine gateway.Engine) {
	ingress, err := svc.NewIngress(svc.IngressConfig{BaseDomain: base, Port: 80})
	if err != nil {
		t.Fatal(err)
	}
	g := gateway.New(gateway.Config{Engine: engine, Ingress: ingress})
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	ended := make(chan error, 1)
	shutdown := sync.OnceFunc(func() {
		waits := make(chan struct{}) // the shutdown has closed what there is, and waits
		go func() { ended <- g.Shutdown(asked{ctx, sync.OnceFunc(func() { close(waits) })}) }()
		<-waits
	})
	if err := g.Serve(asked{t.Context(), shutdown}, ln); err != nil {
		t.Errorf("serving: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("shutting down: %v", err)
	}
}

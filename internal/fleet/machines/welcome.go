package machines

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	joinLimit = 10 * time.Second // for the first messages
	maxSkew   = 5 * time.Minute
	// warmLimit is the time for a machine to start a worker host and a workerd.
	warmLimit = 30 * time.Second
)

// welcome answers a machine, and makes its connection the line of a host.
func (f *Fleet) welcome(ctx context.Context, conn net.Conn) {
	log := f.cfg.Logger.With("address", conn.RemoteAddr().String())
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(joinLimit)) // a connection that has ended fails below
	hello, err := join.ReadHello(conn)
	if err != nil {
		log.DebugContext(ctx, "a connection of no machine", "error", err)
		_ = conn.Close()
		return
	}
	hello.Direct = completed(hello.Direct, conn.RemoteAddr())
	log = log.With("machine", hello.Name, "session", hello.Session)
	w := join.Welcome{Silence: f.cfg.Silence}
	h, err := f.hostOf(ctx, hello)
	switch {
	case err != nil && !isRefusal(err):
		f.postpone(ctx, conn, hello.Name, err)
		return
	case err != nil:
		log.WarnContext(ctx, "a machine was refused", "error", err)
		f.cfg.OnEvent(EventRefused)
		w.Error = svc.AsError(err)
	case h == nil:
		w.Unwanted = true
	}
	if err := join.WriteWelcome(conn, w); err != nil || h == nil {
		_ = conn.Close()
		return
	}
	leaveLobby(conn)
	_ = conn.SetDeadline(time.Time{}) // as above
	client, err := control.Connect(ctx, conn, h.onNotice)
	if err != nil {
		log.WarnContext(ctx, "a machine has joined, but its line failed", "error", err)
		return
	}
	log.InfoContext(ctx, "a machine has joined")
	h.attach(client)
	if hello.Mark == "" {
		f.warm(ctx, h, client)
	} else {
		f.offer() //nolint:contextcheck // does not wait
	}
	<-client.Ended()
	h.detach(client)
}

// completed returns where gateways reach a machine that dials from an address.
func completed(direct string, from net.Addr) string {
	host, port, err := net.SplitHostPort(direct)
	if err != nil {
		return "" // it listens nowhere
	}
	if a, ok := from.(*net.TCPAddr); ok && host == "" {
		host = a.AddrPort().Addr().Unmap().String()
	}
	return net.JoinHostPort(host, port)
}

// admit refuses machines that could not run versions.
func (f *Fleet) admit(ctx context.Context, h join.Hello) error {
	if err := f.cfg.Policy.Admit(ctx, h); err != nil {
		return err
	}
	if h.Release != f.cfg.Release {
		return svc.Errorf(svc.Conflict, svc.CodeHostOtherRelease, "the machine runs release %q, and the daemon %q", h.Release, f.cfg.Release).
			WithHint("install the release of the daemon on the machine")
	}
	if skew := time.Since(h.Time); skew.Abs() > maxSkew {
		return join.Skewed(fmt.Sprintf("by %s", skew.Abs().Round(time.Second)))
	}
	return nil
}

// hostOf returns the host of a machine: see enter.
func (f *Fleet) hostOf(ctx context.Context, hello join.Hello) (*host, error) {
	if err := f.admit(ctx, hello); err != nil {
		return nil, err
	}
	return f.enter(hello)
}

// errStops says that this daemon ends, so that the machine dials the next one.
var errStops = errors.New("the daemon stops")

// enter returns the host of a hello: a new one, or one that dials again. It is nil for a host
// whose version is another's.
func (f *Fleet) enter(hello join.Hello) (*host, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return nil, errStops
	}
	h := f.hosts[hello.Session]
	switch {
	case h != nil:
		return h, nil
	case hello.Mark != "" && (f.gone[hello.Session] || time.Since(f.started) > returnLimit) && !f.isWanted(hello):
		delete(f.gone, hello.Session)
		return nil, nil // the daemon has lost it, and has opened the version elsewhere
	}
	delete(f.gone, hello.Session)
	h, err := newHost(f, hello)
	if err != nil {
		return nil, err
	}
	f.hosts[hello.Session] = h
	f.saw(hello.Machine)
	f.tasks.Go(func() { h.watch(f.life) })
	return h, nil
}

// isWanted reports whether the version of a host that comes back waits for one. The caller holds
// f.mu.
func (f *Fleet) isWanted(hello join.Hello) bool {
	return slices.ContainsFunc(f.wanting, func(w *want) bool { return w.mark == hello.Mark })
}

// warm has the machine start its worker host, which is a spare then.
func (f *Fleet) warm(ctx context.Context, h *host, client *control.Client) {
	ctx, cancel := context.WithTimeout(ctx, warmLimit)
	defer cancel()
	if err := client.Warm(ctx, control.SpareOf(svc.RuntimeSpec{Host: f.cfg.Host})); err != nil {
		f.cfg.Logger.WarnContext(ctx, "a machine cannot start a worker host", "machine", h.name, "error", err)
		h.lose(unknown(err))
		return
	}
	f.mu.Lock()
	h.ready = true
	f.mu.Unlock()
	f.offer() //nolint:contextcheck // does not wait
}

package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/lib/clientlimit"
	"github.com/svcctl/svcctl/internal/svc"
)

// address is the stable address: one port of both loopback addresses, because
// "localhost" is either.
type address struct {
	server  *http.Server
	port    int
	instead string // why it is not the port of the flag; "" if it is
	done    sync.WaitGroup
}

// headerLimit is the time limit for reading a request's header.
const headerLimit = 10 * time.Second

// portFlag is a port that the user may have chosen.
type portFlag struct {
	flag string
	port int  // 0 chooses a free one
	any  bool // choose another port if this one is in use
}

func listen(ctx context.Context, p portFlag, h http.Handler, logger *slog.Logger) (*address, error) {
	var lc net.ListenConfig
	first, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)))
	used := ""
	if errors.Is(err, syscall.EADDRINUSE) {
		used = fmt.Sprintf("port %d is used by %s", p.port, cmp.Or(holder(p.port), "another program"))
		if p.any {
			first, err = lc.Listen(ctx, "tcp", "127.0.0.1:0")
		}
	}
	if err != nil {
		return nil, svc.Errorf(svc.Conflict, svc.CodeAddressInUse, "%s", cmp.Or(used, fmt.Sprintf("cannot listen at port %d", p.port))).
			WithHint("choose another one with %[1]s=PORT, or any free one with %[1]s=0", p.flag).Because(err)
	}
	a := &address{server: &http.Server{Handler: h, ReadHeaderTimeout: headerLimit, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug)}}
	listeners := []net.Listener{first}
	if tcp, ok := first.Addr().(*net.TCPAddr); ok {
		a.port = tcp.Port
	}
	if used != "" {
		a.instead = fmt.Sprintf("%s: using %d", used, a.port)
	}
	if second, err := lc.Listen(ctx, "tcp", net.JoinHostPort("::1", strconv.Itoa(a.port))); err == nil {
		listeners = append(listeners, second) // a machine may have no IPv6
	}
	for _, l := range listeners {
		a.done.Go(func() { _ = a.server.Serve(clientlimit.Lingering(l)) }) // until close
	}
	return a, nil
}

func (a *address) url() string { return "http://localhost:" + strconv.Itoa(a.port) }

// close ends the address and its connections.
func (a *address) close() {
	_ = a.server.Close()
	a.done.Wait()
}

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// The long form: -upgrade.count 20 -upgrade.rate 1000 -upgrade.sockets 50.
var (
	upgradeCount   = flag.Int("upgrade.count", 5, "replacements of the daemon in TestUpgradeUnderLoad")
	upgradeRate    = flag.Int("upgrade.rate", 200, "requests per second in TestUpgradeUnderLoad")
	upgradeSockets = flag.Int("upgrade.sockets", 2, "open websockets in TestUpgradeUnderLoad")
)

// TestUpgradeUnderLoad: a daemon that is replaced by the installed program refuses no
// connection and fails no request; websockets end with 1012. A hangup ends nothing.
func TestUpgradeUnderLoad(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	d.bin = breakable // a start without the race detector takes as long as for a user
	if !d.start() {
		t.Fatal(d.log.String())
	}
	prod := d.deploy(ledgerDir, "--version", "v1").ProdURL
	p, err := d.client().Promote(t.Context(), "ledger", "v1", api.PromoteVersion{})
	if err == nil {
		_, err = d.client().WaitPromotion(t.Context(), "ledger", p.OperationID)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.signal(syscall.SIGHUP)
	svctest.Eventually(t, "the settings are reloaded", func() bool { return strings.Contains(d.log.String(), "settings reloaded") })
	load := d.steady(prod, *upgradeRate)
	for range *upgradeCount {
		var sockets []*websocket.Conn
		for range *upgradeSockets {
			sockets = append(sockets, d.openSocket(prod))
		}
		d.ok(d.home, "admin", "upgrade")
		for _, ws := range sockets {
			_, _, err := ws.Read(t.Context())
			if code := websocket.CloseStatus(err); code != websocket.StatusServiceRestart {
				t.Errorf("a websocket ended with %v", err)
			}
		}
		load.answers(*upgradeRate / 2)
	}
	load.stop()
	t.Logf("%d requests at %d/s during %d replacements: %d refused, %d failed, longest %s",
		load.sent, *upgradeRate, *upgradeCount, load.refused.Load(), load.failed.Load(), time.Duration(load.longest.Load()))
	if load.refused.Load()+load.failed.Load() > 0 {
		t.Errorf("one of the failures: %v", load.last.Load())
	}
}

func (d *daemon) signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		d.t.Fatal(err)
	}
}

// steadyLoad sends requests at a rate, whatever becomes of those before, half of them on
// new connections.
type steadyLoad struct {
	d                                  *daemon
	url                                string
	clients                            [2]*http.Client
	sent                               int // after stop
	answered, refused, failed, longest atomic.Int64
	last                               atomic.Value // of the failures
	quit, ended                        chan struct{}
}

func (d *daemon) steady(url string, rate int) *steadyLoad {
	l := &steadyLoad{d: d, url: url, quit: make(chan struct{}), ended: make(chan struct{})}
	keeping := d.transport()
	keeping.DisableKeepAlives, keeping.MaxIdleConnsPerHost = false, 64
	l.clients = [2]*http.Client{{Timeout: time.Minute, Transport: d.transport()}, {Timeout: time.Minute, Transport: keeping}}
	go l.run(time.Second / time.Duration(rate))
	d.t.Cleanup(keeping.CloseIdleConnections)
	return l
}

func (l *steadyLoad) run(every time.Duration) {
	defer close(l.ended)
	tick := time.NewTicker(every)
	defer tick.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	for {
		select {
		case <-l.quit:
			return
		case <-tick.C:
			client := l.clients[l.sent%2]
			l.sent++
			all.Go(func() { l.ask(client) })
		}
	}
}

func (l *steadyLoad) ask(client *http.Client) {
	began := time.Now()
	err := l.once(client)
	for took := int64(time.Since(began)); ; {
		if was := l.longest.Load(); took <= was || l.longest.CompareAndSwap(was, took) {
			break
		}
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		l.refused.Add(1)
	case err != nil:
		l.failed.Add(1)
	}
	if err != nil {
		l.last.Store(err.Error())
	}
	l.answered.Add(1)
}

func (l *steadyLoad) once(client *http.Client) error {
	req, err := http.NewRequestWithContext(context.WithoutCancel(l.d.t.Context()), http.MethodGet, l.url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && string(body) != "v1" {
		err = errors.New(resp.Status + ": " + string(body))
	}
	return err
}

// answers returns when n more requests were answered.
func (l *steadyLoad) answers(n int) {
	l.d.t.Helper()
	until := l.answered.Load() + int64(n)
	svctest.Eventually(l.d.t, "requests are answered", func() bool { return l.answered.Load() >= until })
}

func (l *steadyLoad) stop() { close(l.quit); <-l.ended }

//go:build e2e && linux

package e2e

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// The numbers of TestEventsOnceOverRestarts are small by default; `make torture` has the
// full ones.
var (
	feedClients = flag.Int("feed.clients", 4, "clients of TestEventsOnceOverRestarts that follow the events")
	feedRate    = flag.Int("feed.rate", 40, "events per second of TestEventsOnceOverRestarts")
	feedTime    = flag.Duration("feed.duration", 2*time.Second, "duration of TestEventsOnceOverRestarts, in which the daemon restarts twice")
)

// feedGrowth is how many bytes the daemon may grow in the last life of a long run.
const feedGrowth = 48 << 20

// followers are clients of the events of a daemon that restarts.
type followers struct {
	t     *testing.T
	api   atomic.Pointer[string] // address of the daemon
	token string
	seen  []atomic.Int64 // id of the last event of each client
	gone  atomic.Int64   // connections that ended
}

// TestEventsOnceOverRestarts: clients that follow the events, while changes make many of
// them and the daemon is killed and stopped, see each event once and in order. A client
// that does not read costs the daemon no memory.
func TestEventsOnceOverRestarts(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_ARTIFACT_WAIT=1h", "SVC_LOG_LEVEL=warn")
	d.project("shop")
	ids := make([]string, 8)
	for i := range ids {
		ids[i] = d.accept("shop", api.CreateVersion{ID: fmt.Sprintf("v%d", i)}).ID
	}
	f := &followers{t: t, token: d.note.AdminToken, seen: make([]atomic.Int64, *feedClients)}
	f.at(d.note.API)
	first, err := d.client().ReadEvents(t.Context(), client.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	begin, _ := strconv.ParseInt(first.NextCursor, 10, 64)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for i := range f.seen {
		f.seen[i].Store(begin)
		all.Go(func() { f.follow(ctx, &f.seen[i]) })
	}
	var memory []int64
	for life := range 3 {
		all.Go(func() { f.stall(ctx, *f.api.Load()) })
		memory = d.change(ids, *feedTime/3)
		switch life {
		case 0:
			d.kill()
		case 1:
			d.stop()
		default:
			continue
		}
		if !d.start() {
			t.Fatal("the daemon ended")
		}
		f.at(d.note.API)
	}
	last, err := d.client().ReadEvents(t.Context(), client.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	end, _ := strconv.ParseInt(last.NextCursor, 10, 64)
	for i := range f.seen {
		svctest.Eventually(t, fmt.Sprintf("client %d to see event %d", i, end), func() bool { return f.seen[i].Load() >= end })
	}
	t.Logf("%d events (%.0f/s) seen by %d clients over %d connections; memory of the last life in MiB: %v",
		end-begin, float64(end-begin)/feedTime.Seconds(), *feedClients, f.gone.Load(), mebibytes(memory))
	if n := len(memory); n > 10 && slices.Max(memory[n/2:]) > slices.Max(memory[n/4:n/2])+feedGrowth {
		t.Error("the memory of the daemon grows")
	}
}

// at sets the address of the daemon.
func (f *followers) at(address string) { f.api.Store(&address) }

// change makes the events, and returns the memory of the daemon in each of 20 intervals. One
// in twenty is of a change by the API, which tells the daemon that there are more.
func (d *daemon) change(ids []string, during time.Duration) (memory []int64) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), during)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { d.pins(ctx, ids) })
	all.Go(func() { d.inserts(ctx, 0.95*float64(*feedRate), []svc.Ref{{Project: "shop", Version: ids[0]}}) })
	pause := time.NewTicker(during / 20)
	defer pause.Stop()
	for ctx.Err() == nil {
		<-pause.C
		memory = append(memory, residentOf(d.cmd.Process.Pid))
	}
	all.Wait()
	return memory
}

// pins changes versions: each change has an event, and so has its audit record.
func (d *daemon) pins(ctx context.Context, ids []string) {
	tick := time.NewTicker(40 * time.Second / time.Duration(*feedRate))
	defer tick.Stop()
	c := d.client()
	for k := 0; ctx.Err() == nil; k++ {
		change := c.Pin
		if k/len(ids)%2 == 1 {
			change = c.Unpin
		}
		if _, err := change(d.t.Context(), "shop", ids[k%len(ids)]); err != nil {
			d.t.Error(err)
		}
		<-tick.C
	}
}

// inserts writes a number of events per second into the registry, those of 50 ms in one
// transaction, as the daemon does with those of its processes.
func (d *daemon) inserts(ctx context.Context, rate float64, of []svc.Ref) {
	db, err := sqlite.Open(d.t.Context(), filepath.Join(d.dataDir(), "registry.db"), sqlite.Options{})
	if err != nil {
		d.t.Error(err)
		return
	}
	defer db.Close()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	due, n := 0.0, 0
	for ; ctx.Err() == nil; <-tick.C {
		due += rate / 20
		err := db.InTx(d.t.Context(), func(tx *sql.Tx) error {
			for ; due >= 1; due, n = due-1, n+1 {
				ref := of[n%len(of)]
				if _, err := tx.ExecContext(d.t.Context(), `INSERT INTO events (type, project_id, version_id, data, created_at) VALUES (?, ?, ?, '{"status":"serving"}', ?)`,
					svc.FeedRuntimeRestarted, ref.Project, ref.Version, time.Now().UnixMilli()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			d.t.Error(err)
		}
	}
}

// residentOf returns the resident memory of a process in bytes.
func residentOf(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(text) + " 0 0")
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

func mebibytes(list []int64) (out []int64) {
	for _, n := range list {
		out = append(out, n>>20)
	}
	return out
}

// follow reads the stream and continues after each end of it where it was.
func (f *followers) follow(ctx context.Context, seen *atomic.Int64) {
	for ctx.Err() == nil {
		if err := f.read(ctx, seen); err != nil && ctx.Err() == nil {
			f.gone.Add(1)
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond): // the daemon restarts
			}
		}
	}
}

// read reads one connection: each id follows the one before.
func (f *followers) read(ctx context.Context, seen *atomic.Int64) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, *f.api.Load()+"/v1/events", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+f.token)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Last-Event-ID", strconv.FormatInt(seen.Load(), 10))
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	lines := bufio.NewScanner(resp.Body)
	at := int64(0)
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			at, _ = strconv.ParseInt(value, 10, 64)
		case "data":
			if last := seen.Load(); at != last+1 {
				f.t.Errorf("event %d after %d", at, last)
			}
			seen.Store(at)
		}
	}
	return cmp.Or(lines.Err(), net.ErrClosed)
}

// stall asks for the events and reads nothing.
func (f *followers) stall(ctx context.Context, address string) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n", f.token)
	<-ctx.Done()
}

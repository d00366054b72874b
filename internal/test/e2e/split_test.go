//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/test/crashtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// leaseTTL is the lease time in tests of a takeover by another daemon.
const leaseTTL = 5 * time.Second

// external is the environment of a daemon on an external store.
func external(store *s3test.Store, more ...string) []string {
	return append([]string{
		"S3_ENDPOINT=" + store.Through.Endpoint, "S3_ACCESS_KEY_ID=" + store.Through.AccessKey, "S3_SECRET_ACCESS_KEY=" + store.Through.SecretKey.Reveal(),
		"SVC_LEASE_TTL=" + leaseTTL.String(),
	}, more...)
}

// objectStore starts a store that belongs to no daemon.
func objectStore(t *testing.T) *s3test.Store {
	t.Helper()
	return s3test.Start(t, []string{program(), "object-store"})
}

// TestSplitBrain lets two daemons of two data directories serve one version from
// one object store. The one that serves is suspended with all its processes in
// the middle of its writes; the other takes over; the first continues. It must
// answer nothing, and no line that either of them acknowledged may be lost.
// spec: [C16.13]
func TestSplitBrain(t *testing.T) {
	t.Parallel()
	store := objectStore(t)
	b := &daemonPair{t: t}
	for _, name := range []string{"a", "b"} {
		// A bundle is uploaded once, so each daemon has its own bucket for bundles.
		d := started(t, external(store, "SVC_DURABILITY=sync", "SVC_ARTIFACTS_BUCKET=artifacts-"+name, "RUNTIME_BUCKET=runtime")...)
		b.daemons = append(b.daemons, d)
	}
	b.url = b.daemons[0].deploy(ledgerDir, "--version", "v1").PreviewURL
	b.expectLeases()
	rounds, pause := 2, time.Duration(0)
	if crashtest.Long() {
		rounds, pause = 50, 5*time.Second // five deaths in a minute are too many for a supervisor
	}
	for range rounds {
		if b.round(); t.Failed() {
			t.Fatalf("in round %d", b.rounds)
		}
		time.Sleep(pause)
	}
	b.daemons[b.owner].checkLines(b.url, b.lines)
	t.Logf("%d rounds, %d lines acknowledged, 0 lost; the other daemon served after %v", b.rounds, len(b.lines), b.took)
}

// expectLeases checks that each daemon shows both nodes, and which of them owns the version.
func (b *daemonPair) expectLeases() {
	b.t.Helper()
	for i, d := range b.daemons {
		list, err := d.client().Leases(b.t.Context(), "", client.Page{})
		if err != nil || list.LeaseTTLSeconds != leaseTTL.Seconds() || len(list.Nodes) != 2 || list.Nodes[0].ThisServer == list.Nodes[1].ThisServer || list.Nodes[0].Released || list.Nodes[1].Released {
			b.t.Fatalf("nodes: %+v, %v", list, err)
		}
		if i == 0 && (len(list.Items) != 1 || !list.Items[0].ThisServer || list.Items[0].Data != api.DataOwnerDataLive || list.Items[0].Epoch != 1) {
			b.t.Errorf("owner: %+v", list.Items)
		}
	}
}

// daemonPair holds the daemons and what they acknowledged.
type daemonPair struct {
	t       *testing.T
	daemons []*daemon
	url     string
	owner   int
	rounds  int
	lines   []string
	took    []time.Duration
	client  *http.Client // in place of one that asks the daemon; nil for none
}

// round suspends the owner and resumes it when the other one has taken over.
func (b *daemonPair) round() {
	b.rounds++
	old, taker := b.daemons[b.owner], b.daemons[1-b.owner]
	writers := b.write(old, 4)
	b.await(writers, 30)
	pids := old.suspend()
	began := time.Now()
	if b.rounds == 1 {
		taker.deploy(ledgerDir, "--version", "v1") // it finds the data
	}
	others := b.write(taker, 4)
	b.await(others, 30)
	b.took = append(b.took, time.Since(began).Round(time.Millisecond))
	woken := time.Now()
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGCONT) // in any order
	}
	svctest.Succeeds(old.t, "the old owner to notice", func() error {
		if !strings.Contains(old.log.String()[writers.logged:], "data_fenced") {
			return errors.New("its log has no data_fenced")
		}
		return nil
	})
	b.await(others, 30) // the new owner serves
	for _, l := range writers.end() {
		if l.began.After(woken) {
			b.t.Errorf("the old owner acknowledges %s, asked for %v after it was woken", l.text, l.began.Sub(woken))
		}
		b.lines = append(b.lines, l.text)
	}
	for _, l := range others.end() {
		b.lines = append(b.lines, l.text)
	}
	taker.checkLines(b.url, b.lines)
	b.owner = 1 - b.owner
}

// suspend stops every process of a daemon.
func (d *daemon) suspend() (pids []int) {
	d.t.Helper()
	for _, p := range d.processes() {
		text, _, _ := strings.Cut(p, " ")
		pid, err := strconv.Atoi(text)
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGSTOP)
		}
		if err != nil {
			d.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	slices.Reverse(pids)
	return pids
}

// line is an acknowledged line.
type line struct {
	text  string
	began time.Time
}

// lineWriters write lines through one daemon, as fast as it takes them.
type lineWriters struct {
	logged int // length of the daemon's log before
	stop   context.CancelFunc
	all    sync.WaitGroup

	mu     sync.Mutex
	lines  []line
	failed []string // answers of requests that were not acknowledged
}

func (b *daemonPair) write(d *daemon, n int) *lineWriters {
	ctx, cancel := context.WithCancel(b.t.Context())
	s := &lineWriters{stop: cancel, logged: len(d.log.String())}
	c := b.client
	if c == nil {
		c = d.http()
		if len(b.daemons) > 1 {
			c.Timeout = leaseTTL / 2 // a suspended daemon does not answer
		}
	}
	for i := range n {
		s.all.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				l := line{fmt.Sprintf("%s %d %d %d", d.home, b.rounds, i, k), time.Now()}
				a, err := fetch(ctx, c, http.MethodPost, b.url+"/add", l.text)
				if err == nil && a.Status == http.StatusOK {
					s.mu.Lock()
					s.lines = append(s.lines, l)
					s.mu.Unlock()
				} else if ctx.Err() == nil {
					s.mu.Lock()
					s.failed = append(s.failed, fmt.Sprintf("%d %s %v", a.Status, a.Body, err))
					s.mu.Unlock()
				}
			}
		})
	}
	return s
}

// await waits for n more lines.
func (b *daemonPair) await(s *lineWriters, n int) {
	b.t.Helper()
	count := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.lines)
	}
	before := count()
	svctest.Succeeds(b.daemons[0].t, "lines to be acknowledged", func() error {
		if k := count() - before; k < n {
			return fmt.Errorf("%d of %d", k, n)
		}
		return nil
	})
}

func (s *lineWriters) end() []line {
	s.stop()
	s.all.Wait()
	return s.lines
}

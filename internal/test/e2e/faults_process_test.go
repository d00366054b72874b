//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestFaultsRuntimeKilled kills processes of a version under load. Requests in
// flight may fail with an error; later ones do not, and every acknowledged write
// is kept.
func TestFaultsRuntimeKilled(t *testing.T) {
	t.Parallel()
	for name, pattern := range map[string]string{"workerd": workerd + " serve", "host": " runtime-host"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := started(t)
			v := d.deploy(ledgerDir, "--version", "v1")
			writers := d.writeTo(v.ProdURL, 6)
			for range 3 {
				writers.succeed(20)
				pid := d.pidOf(pattern)
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				svctest.Succeeds(d.t, "another "+name, func() error {
					if now := d.pids(pattern); len(now) != 1 || now[0] == pid {
						return fmt.Errorf("%v instead of %d", now, pid)
					}
					return nil
				})
			}
			writers.succeed(200)
			acknowledged := writers.end()
			d.checkLines(v.PreviewURL, acknowledged)
			t.Logf("%d lines acknowledged, %d requests failed in %d kills", len(acknowledged), writers.failed, 3)
		})
	}
}

// TestFaultsKilledUnderLoad kills the daemon itself under load: every acknowledged
// write is kept. Worker hosts and workerds end within a second of their daemon: the next one
// does not adopt them. Busy machines take longer, so the quickest end counts.
func TestFaultsKilledUnderLoad(t *testing.T) {
	t.Parallel()
	d := started(t, "GATEWAY_PORT="+freePort(t))
	v := d.deploy(ledgerDir, "--version", "v1")
	writers := d.writeTo(v.ProdURL, 6)
	var ends []time.Duration
	for range 3 {
		writers.succeed(50)
		if len(d.pids(" runtime-host")) == 0 || len(d.pids(workerd+" serve")) == 0 {
			t.Error("the version has no processes before the kill")
		}
		d.kill()
		killed := time.Now()
		d.noProcessesLeft()
		ends = append(ends, time.Since(killed))
		if !d.start() {
			t.Fatal("the daemon does not start again")
		}
	}
	if t.Logf("the processes ended after %v", ends); slices.Min(ends) > time.Second {
		t.Errorf("the processes ended after %v", ends)
	}
	writers.succeed(50)
	d.checkLines(v.PreviewURL, writers.end())
}

// checkLines compares the ledger with what it acknowledged. A line whose answer was
// lost may be present.
func (d *daemon) checkLines(url string, acknowledged []string) {
	d.t.Helper()
	var rows [][]string
	a := d.get(url + "/all")
	if err := json.Unmarshal([]byte(a.Body), &rows); err != nil {
		d.t.Fatalf("%v: %s", err, a.Body)
	}
	kept := slices.Concat(rows...)
	slices.Sort(kept)
	for _, line := range acknowledged {
		if _, ok := slices.BinarySearch(kept, line); !ok {
			d.t.Errorf("%s was acknowledged and is lost; %d of %d are there", line, len(kept), len(acknowledged))
			return
		}
	}
}

// writers add lines to a ledger until they are stopped.
type writers struct {
	d    *daemon
	url  string
	stop chan struct{}
	all  sync.WaitGroup

	mu     sync.Mutex
	lines  []string // acknowledged
	failed int
}

func (d *daemon) writeTo(url string, n int) *writers {
	w := &writers{d: d, url: url, stop: make(chan struct{})}
	client := d.http() // the gateway keeps its address
	for i := range n {
		w.all.Go(func() { w.write(client, i) })
	}
	return w
}

func (w *writers) write(client *http.Client, n int) {
	for i := 0; ; i++ {
		select {
		case <-w.stop:
			return
		case <-time.After(time.Millisecond):
		}
		line := fmt.Sprintf("%d/%d", n, i)
		a, err := fetch(w.d.t.Context(), client, http.MethodPost, w.url+"/add", line)
		if err == nil && a.Status != 200 && !tellsOutage(a) {
			w.d.t.Errorf("a request that fails answers %d %v", a.Status, a.Header)
		}
		w.mu.Lock()
		if err == nil && a.Status == 200 {
			w.lines = append(w.lines, line)
		} else {
			w.failed++
		}
		w.mu.Unlock()
	}
}

// tellsOutage reports whether an answer is one of the expected errors while a runtime
// is being restarted: unavailable, timed out or, from a worker that outlives its
// host for a moment, a lost database.
func tellsOutage(a answer) bool {
	switch a.Header.Get("Svc-Error") {
	case "runtime_unavailable":
		return a.Status == http.StatusBadGateway
	case "version_not_ready", "runtime_restarting":
		return a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != ""
	}
	return a.Status == http.StatusInternalServerError
}

// succeed waits for n more lines without a failure among them.
func (w *writers) succeed(n int) {
	w.d.t.Helper()
	done, failed := 0, -1
	svctest.Succeeds(w.d.t, "writes without a failure", func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if failed != w.failed {
			done, failed = len(w.lines), w.failed
		}
		if len(w.lines)-done < n {
			return fmt.Errorf("%d of %d writes in a row", len(w.lines)-done, n)
		}
		return nil
	})
}

func (w *writers) end() []string {
	close(w.stop)
	w.all.Wait()
	return w.lines
}

// pids are the processes below the daemon with this text in their command line.
func (d *daemon) pids(text string) (pids []int) {
	for _, p := range d.processes() {
		if strings.Contains(p, text) {
			pid, _, _ := strings.Cut(p, " ")
			n, err := strconv.Atoi(pid)
			if err != nil {
				d.t.Fatal(err)
			}
			pids = append(pids, n)
		}
	}
	return pids
}

// pidOf is the only such process.
func (d *daemon) pidOf(text string) int {
	d.t.Helper()
	pids := d.pids(text)
	if len(pids) != 1 {
		d.t.Fatalf("%d processes with %q: %v", len(pids), text, d.processes())
	}
	return pids[0]
}

// TestFaultsStoreKilled kills the embedded object store while a deploy waits for
// its bundle, and again before a promotion.
// spec: [C13.12]
func TestFaultsStoreKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	accepted, err := w.client().CreateVersion(t.Context(), book, api.CreateVersion{ID: "v2", Upload: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	w.want[at(book, "v2")] = api.VersionStatusReady
	w.reaches(book, "v2", api.VersionStatusFetching)
	w.killStore()
	svctest.Succeeds(w.t, "the upload", func() error {
		err := w.client().Upload(t.Context(), *accepted.Upload, bytes.NewReader(guestbookBundle(t)), nil)
		return err
	})
	w.check("v1")
	w.killStore()
	w.promoteWithoutStore("v2")
	w.ends(api.PromotionStatusDone, "v2")
}

// promoteWithoutStore promotes until the store is there: on a busy machine its start takes longer than
// a promote tries, which is undone then and says why.
func (w *world) promoteWithoutStore(version string) {
	w.t.Helper()
	for {
		w.promote(version)
		p := w.promotions()[0]
		if p.Status == api.PromotionStatusDone {
			return
		}
		if !strings.Contains(p.Error, "pointer_unavailable") {
			w.t.Fatalf("the promotion of %s is %s: %s", version, p.Status, p.Error)
		}
		w.check("v1")
	}
}

func (d *daemon) killStore() {
	d.t.Helper()
	if err := syscall.Kill(d.pidOf(" object-store"), syscall.SIGKILL); err != nil {
		d.t.Fatal(err)
	}
}

// reaches waits until a version has a status.
func (d *daemon) reaches(project, version string, status api.VersionStatus) {
	d.t.Helper()
	svctest.Succeeds(d.t, version+" to be "+string(status), func() error {
		v, err := d.client().Version(d.t.Context(), project, version)
		if err == nil && v.Status != status {
			err = errors.New(string(v.Status))
		}
		return err
	})
}

// TestFaultsStopped shuts the daemon down gracefully in the middle of deploys. It exits
// immediately with code 0; the next daemon finishes the deploys.
func TestFaultsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "SVC_ARTIFACT_WAIT=10m")
	waits := at(book, "waits")
	w.want[waits] = api.VersionStatusReady
	if _, err := w.client().CreateVersion(t.Context(), book, api.CreateVersion{ID: waits.Version}, ""); err != nil {
		t.Fatal(err)
	}
	w.reaches(book, waits.Version, api.VersionStatusFetching)
	began := time.Now()
	w.stopsWell()
	if took := time.Since(began); took > svctest.Patience {
		t.Errorf("stopping takes %s", took)
	}
	w.registry(func(db *sqlite.DB) {
		var attempts int
		if err := db.Read().QueryRowContext(t.Context(), `SELECT attempt FROM jobs`).Scan(&attempts); err != nil || attempts != 0 {
			t.Errorf("%d attempts (%v), but a stop is no failure of the deploy", attempts, err)
		}
	})
	w.start()
	w.upload(waits, guestbookBundle(t))
	w.check("v1")
	busy := at(book, "busy")
	w.create(busy, guestbookBundle(t))
	w.stopsWell()
	w.start()
	w.check("v1")
}

func (w *world) stopsWell() {
	w.t.Helper()
	if code := w.stop(); code != 0 {
		w.t.Errorf("a polite stop ends with exit code %d", code)
	}
	w.noProcessesLeft()
}

// TestFaultsSecondDaemon: a data directory has one daemon. Another one fails
// with an error and changes nothing.
// spec: [C1.6]
func TestFaultsSecondDaemon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before, err := os.ReadFile(filepath.Join(w.dataDir(), "daemon.json"))
	if err != nil {
		t.Fatal(err)
	}
	out, errs, code := w.run(w.home, "serve")
	if code == 0 || out != "" || !strings.Contains(errs, "another daemon uses the data directory "+w.dataDir()) || !strings.Contains(errs, "--data-dir") {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
	after, err := os.ReadFile(filepath.Join(w.dataDir(), "daemon.json"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the note was %s and is %s (%v)", before, after, err)
	}
	w.add(at(book, "v2"))
	w.check("v1")
}

// freePort is a port that is free now.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := fmt.Sprint(20_000 + rand.IntN(12_000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

package supervisor_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/fleet/supervisor"
	"github.com/svcctl/svcctl/internal/host/hostmain"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/server/logs"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestMain: the test binary is also a worker host, and a daemon to be killed.
func TestMain(m *testing.M) {
	s3test.Main(m, map[string]svctest.Role{
		"runtime-host": func(ctx context.Context, _ []string) error { return hostmain.Run(ctx) },
		"daemon":       runDaemon,
		"armed-host":   runArmedHost,
	})
}

// harness is a Supervisor and its reports.
type harness struct {
	*supervisor.Supervisor
	driver *process.Driver

	t    testing.TB
	run  string // its run directory
	base string // directory of bundles and data

	mu      sync.Mutex
	changes []svc.Runtime
	news    chan struct{} // closed at the next change
}

func start(t testing.TB, adjust func(*options)) *harness {
	t.Helper()
	run := svctest.ShortDir(t)
	h := &harness{t: t, run: run, base: t.TempDir(), news: make(chan struct{})}
	cfg := config(workerdtest.Binary(t), run)
	cfg.OnChange = func(now svc.Runtime) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.changes = append(h.changes, now)
		close(h.news)
		h.news = make(chan struct{})
	}
	if adjust != nil {
		adjust(&cfg)
	}
	var err error
	if h.Supervisor, h.driver, err = cfg.build(); err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return h
}

// options are those of a Supervisor and of the driver for this machine.
type options struct {
	supervisor.Config

	HostCommand []string
	HostPath    string
	Workerd     string
	RunDir      string
	Environ     []string
	Groups      process.Groups
	Spares      int
	SparesSoon  bool
}

func config(workerd, run string) options {
	return options{
		HostCommand: svctest.Command("runtime-host"), Workerd: workerd, RunDir: run, Environ: []string{"GORACE=" + svctest.Race},
		Config: supervisor.Config{
			Logger: slog.New(slog.DiscardHandler),
			Policy: supervisor.Policy{Min: time.Millisecond},
			Host:   svc.HostConfig{Storage: storage(filepath.Join(run, "store")), StartTimeout: svctest.Patience},
			// A busy machine is slow; tests of these limits set their own.
			PingTimeout: svctest.Patience, Grace: time.Minute,
		},
	}
}

func (o *options) build() (*supervisor.Supervisor, *process.Driver, error) {
	d, err := process.New(process.Config{
		Logger: o.Logger, Command: o.HostCommand, Path: o.HostPath, Workerd: o.Workerd, RunDir: o.RunDir, Environ: o.Environ,
		Groups: o.Groups, Host: o.Host, Spares: o.Spares, SparesSoon: o.SparesSoon,
	})
	if err != nil {
		return nil, nil, err
	}
	o.Driver = d
	s, err := supervisor.New(o.Config)
	return s, d, err
}

// storage returns a Storage in a directory.
func storage(dir string) svc.Storage {
	place := svc.Place{Dir: dir}
	return svc.Storage{Data: place, Manifests: place, Owner: svc.Owner{Node: "h", Session: "s"}}
}

// await waits for the n-th report of a state, the first being 1.
func (h *harness) await(state svc.RuntimeState, n int) svc.Endpoint {
	h.t.Helper()
	limit := time.After(svctest.Patience)
	for {
		h.mu.Lock()
		seen, news := 0, h.news
		for _, c := range h.changes {
			if c.State == state {
				if seen++; seen == n {
					h.mu.Unlock()
					return c.Endpoint
				}
			}
		}
		h.mu.Unlock()
		select {
		case <-news:
		case <-limit:
			h.t.Fatalf("state %s was not reported %d times: %s; runtimes %+v", state, n, h.states(), h.Runtimes())
		}
	}
}

func (h *harness) states() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []string
	for _, c := range h.changes {
		list = append(list, string(c.State))
	}
	return strings.Join(list, " ")
}

// spec unpacks a worker of one module and returns its spec.
func (h *harness) spec(code string, adjust func(*bundle.Manifest)) svc.RuntimeSpec {
	h.t.Helper()
	return newSpec(h.t, h.base, map[string]string{"index.js": code}, adjust)
}

func newSpec(t testing.TB, base string, files map[string]string, adjust func(*bundle.Manifest)) svc.RuntimeSpec {
	t.Helper()
	dir, err := os.MkdirTemp(base, "v") //nolint:usetesting // several in one test
	if err != nil {
		t.Fatal(err)
	}
	m := bundle.Manifest{
		SchemaVersion: bundle.SchemaVersion, Main: "index.js", CompatibilityDate: "2026-11-01", CompatibilityFlags: []string{},
	}
	put := func(path, content string) bundle.File {
		name := filepath.Join(dir, "bundle", path)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(content))
		return bundle.File{Path: path, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content))}
	}
	for name, content := range files {
		if strings.HasPrefix(name, "migrations/") {
			db := strings.Split(name, "/")[1]
			m.Migrations = append(m.Migrations, bundle.Migrations{Binding: db, Table: "d1_migrations", Files: []bundle.File{put(name, content)}})
			continue
		}
		f := put(bundle.ModulePath(name), content)
		m.Modules = append(m.Modules, bundle.Module{Name: name, Type: bundle.ESModule, SHA256: f.SHA256, Size: f.Size})
	}
	if adjust != nil {
		adjust(&m)
	}
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	put("manifest.json", string(data))
	return svc.RuntimeSpec{
		Ref: svc.Ref{Project: "shop", Version: "v-1"}, CreatedAt: time.Unix(1_790_000_000, 0), Tag: "main",
		Local: svc.LocalSpec{BundleDir: filepath.Join(dir, "bundle"), DataDir: filepath.Join(dir, "data"), LogDir: filepath.Join(dir, "logs")},
	}
}

// serve calls Open and Serve.
func (h *harness) serve(spec svc.RuntimeSpec) (svc.Endpoint, error) {
	h.t.Helper()
	if err := h.Open(h.t.Context(), spec); err != nil {
		return svc.Endpoint{}, err
	}
	return h.Serve(h.t.Context(), spec.Ref)
}

func (h *harness) mustServe(spec svc.RuntimeSpec) svc.Endpoint {
	h.t.Helper()
	e, err := h.serve(spec)
	if err != nil {
		h.t.Fatal(err)
	}
	return e
}

// get sends a request to a worker over its unix socket.
func get(ctx context.Context, socket, path string) (int, string, error) {
	c := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}
	return fetch(ctx, c, "http://worker.test"+path)
}

// requestID is how the requests for a path are named, as the gateway names each request.
func requestID(path string) string { return fmt.Sprintf("%016x", len(path)) }

func fetch(ctx context.Context, c *http.Client, url string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-"+requestID(req.URL.Path)+"-00")
	res, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}

func (h *harness) want(e svc.Endpoint, path, want string) {
	h.t.Helper()
	status, body, err := get(h.t.Context(), e.Socket, path)
	if err != nil || status != http.StatusOK || body != want {
		h.t.Errorf("GET %s: %d %q %v, want %q", path, status, body, err, want)
	}
}

// serves waits until the version answers: a busy machine may have a worker killed that
// answers no ping in time.
func (h *harness) serves(ref svc.Ref, want string) {
	h.t.Helper()
	svctest.Succeeds(h.t, "the version to serve", func() error {
		now, _ := h.Runtime(ref)
		status, body, err := get(h.t.Context(), now.Endpoint.Socket, "/")
		if err == nil && (status != http.StatusOK || body != want) {
			err = fmt.Errorf("%s: %d %q", now.State, status, body)
		}
		return err
	})
}

// runDaemon serves the version whose spec is in the file args[2], waits for a spare, prints
// a daemonReport, and waits to be killed.
func runDaemon(ctx context.Context, args []string) error {
	workerd, run, file := args[0], args[1], args[2]
	var spec svc.RuntimeSpec
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &spec)
	}
	if err != nil {
		return err
	}
	cfg := config(workerd, run)
	cfg.Spares = 1
	s, d, err := cfg.build()
	if err == nil {
		err = s.Start(ctx)
	}
	var report daemonReport
	for range 2 { // from the second start on there is a spare
		if err == nil {
			err = errors.Join(s.StopVersion(ctx, spec.Ref), s.Open(ctx, spec))
		}
		if err == nil {
			report.Endpoint, err = s.Serve(ctx, spec.Ref)
		}
	}
	for err == nil && s.Spares() == 0 {
		err = backoff.Sleep(ctx, time.Millisecond)
	}
	if report.Spares = d.SparePIDs(); err == nil {
		err = json.NewEncoder(os.Stdout).Encode(report)
	}
	if err != nil {
		return err
	}
	select {}
}

// daemonReport is what runDaemon prints.
type daemonReport struct {
	Endpoint svc.Endpoint `json:"endpoint"`
	Spares   []int        `json:"spares"` // processes
}

// logTail returns the last n entries of the log of spec's version.
func logTail(t *testing.T, spec svc.RuntimeSpec, n int) []svc.LogLine {
	t.Helper()
	dir := func(svc.Ref) string { return spec.Local.LogDir }
	page, err := logs.New(dir, dir).Read(t.Context(), spec.Ref, svc.LogQuery{Tail: n})
	if err != nil {
		t.Error(err)
	}
	lines := make([]svc.LogLine, len(page.Entries))
	for i, e := range page.Entries {
		lines[i] = e.LogLine
	}
	return lines
}

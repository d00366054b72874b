package gateway_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const workerConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "user", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-11-17",
      bindings = [(name = "CTL", service = "ctl"), (name = "VERSION", text = "%[2]s")])),
    (name = "ctl", external = (address = "unix:%[1]s/c", http = ())),
  ],
  sockets = [(name = "http", address = "unix:%[1]s/w", service = "user",
    http = (forwardedProtoHeader = "X-Svc-Proto", cfBlobHeader = "X-Svc-Cf"))],
);
`

// worker is a workerd with testdata/worker.js, which the test controls.
type worker struct {
	socket  string
	process *os.Process

	mu    sync.Mutex
	gates map[string]chan struct{}
}

// startWorker starts a workerd; version is the response of its /version.
func startWorker(t testing.TB, version string) *worker {
	t.Helper()
	dir := svctest.ShortDir(t)
	w := &worker{socket: filepath.Join(dir, "w"), gates: map[string]chan struct{}{}}
	w.control(t, filepath.Join(dir, "c"))
	source, err := os.ReadFile("testdata/worker.js")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"worker.js": string(source), "config.capnp": fmt.Sprintf(workerConfig, dir, version)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.run(t, filepath.Join(dir, "config.capnp"))
	return w
}

// run starts the process and waits until its socket listens.
func (w *worker) run(t testing.TB, config string) {
	t.Helper()
	cmd := workerdtest.Command(t, "serve", "--experimental", "--control-fd=3", config)
	var stderr svctest.Buffer
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	cmd.ExtraFiles = []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	w.process = cmd.Process
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(ours).ReadString('\n')
	if err != nil || !strings.Contains(line, `"listen"`) {
		t.Fatalf("workerd does not listen: %q %v\n%s", line, err, stderr.String())
	}
}

// control serves env.CTL.
func (w *worker) control(t testing.TB, socket string) {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/wait/{key}", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-w.gate(r.PathValue("key")):
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/record/{what}", func(_ http.ResponseWriter, r *http.Request) { w.release(r.PathValue("what")) })
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(ln) }()
	t.Cleanup(func() { _ = server.Close() })
}

// gate returns a channel that release closes, or the worker's /record.
func (w *worker) gate(key string) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gates[key] == nil {
		w.gates[key] = make(chan struct{})
	}
	return w.gates[key]
}

func (w *worker) release(key string) {
	ch := w.gate(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-ch:
	default:
		close(ch)
	}
}

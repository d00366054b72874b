package bindingtest

import (
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/door"
	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/svc"
)

// compatibilityDate of all workers of tests.
const compatibilityDate = "2026-11-01"

// OpenVolumes opens the volumes in dir, with an object store in memory that
// belongs to dir, and closes them when the test ends. Those that a call before
// has opened there are closed, as by a restart.
func OpenVolumes(t testing.TB, dir string) *dataplane.Volumes {
	t.Helper()
	return OpenVolumesOn(t, dir, &machineOf(dir).bucket)
}

// busyWindow keeps writes from being rejected on a machine whose disk is so busy that the
// shipper does not run for many seconds.
const busyWindow = time.Minute

// OpenVolumesOn is OpenVolumes on an object store of the test's.
func OpenVolumesOn(t testing.TB, dir string, bucket objstore.Bucket) *dataplane.Volumes {
	t.Helper()
	m := machineOf(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.volumes != nil {
		if err := m.volumes.Close(); err != nil {
			t.Fatal(err)
		}
	}
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	branches, err := branch.New(branch.Config{Data: bucket, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	v, err := dataplane.Open(t.Context(), dataplane.Config{
		Ref: svc.Ref{Project: "p", Version: "v1"}, Dir: dir, Bucket: bucket, Branches: branches,
		Owner: svc.Owner{Node: "test", Session: "test"}, Logger: logger,
		Window: busyWindow,
	})
	if err != nil {
		t.Fatal(err)
	}
	m.volumes = v
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Errorf("closing the volumes: %v", err)
		}
	})
	return v
}

// machine is what outlives the processes that have a directory open.
type machine struct {
	bucket  memstore.Bucket
	mu      sync.Mutex
	volumes *dataplane.Volumes // the last that were opened
}

//nolint:gochecknoglobals // stands for what outlives a process: a test may open a directory twice
var machines sync.Map // of *machine, by directory

func machineOf(dir string) *machine {
	m, _ := machines.LoadOrStore(dir, new(machine))
	return m.(*machine) //nolint:forcetypeassert // nothing else is in it
}

// OpenSet opens bindings on v and closes them when the test ends.
func OpenSet(t testing.TB, v volume.Volumes, kinds []binding.Kind, bindings ...bundle.Binding) *binding.Set {
	t.Helper()
	set, err := binding.OpenAll(t.Context(), kinds, &bundle.Manifest{Bindings: bindings}, v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Errorf("closing the bindings: %v", err)
		}
	})
	return set
}

// Start runs the module source in workerd with the bindings of set.
func Start(t testing.TB, set *binding.Set, source string) *Worker {
	t.Helper()
	dir := Dir(t)
	socket := filepath.Join(dir, "b")
	serve(t, socket, set)
	user := &workerd.Worker{
		Modules:           entry.Before([]workerd.Module{{Name: "index.js", Type: workerd.ESModule, Source: source}}, false, false),
		CompatibilityDate: compatibilityDate,
	}
	config := workerd.Config{
		Services: []workerd.Service{{Name: "user", Worker: user}}, Extensions: entry.Extensions(0, false, false),
	}
	site := binding.Site{
		Ref: svc.Ref{Project: "p", Version: "v1"}, Tag: "main", Address: "unix:" + socket, Worker: "user",
		CreatedAt: time.Date(2026, 11, 20, 1, 2, 3, 4e6, time.UTC),
	}
	wirings := set.Wire(site)
	user.Bindings = binding.AddTo(&config, wirings)
	web, events := filepath.Join(dir, "w"), filepath.Join(dir, "d")
	config.Services = append(config.Services, door.Service("user", binding.Events(wirings)...))
	config.Sockets = []workerd.Socket{
		{Name: "http", Address: "unix:" + web, Service: workerd.ServiceRef{Name: "user"}},
		door.Socket(events),
	}
	text, err := workerd.Render(config)
	if err != nil {
		t.Fatal(err)
	}
	args := workerd.Command(workerdtest.Binary(t), workerd.Options{Config: writeFile(t, dir, "config.capnp", string(text)), ControlFD: 3})
	return open(t, dir, args, web, events)
}

// open starts workerd and connects to its sockets.
func open(t testing.TB, dir string, args []string, web, events string) *Worker {
	t.Helper()
	exited := make(chan struct{})
	w := &Worker{client: unixClient(web), base: "http://worker.test"}
	w.events = door.New(events, exited)
	p, _ := run(t, dir, args, func(l workerd.LogLine) { w.events.Line(l) }, "http", door.Name)
	w.kill = p.kill
	go func() { <-p.exited; close(exited) }()
	return w
}

func serve(t testing.TB, socket string, set *binding.Set) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := binding.NewServer(set, slog.New(slog.NewTextHandler(t.Output(), nil)))
	done := make(chan error, 1)
	go func() { done <- server.Serve(t.Context(), l) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-done; err != nil {
			t.Errorf("serving bindings: %v", err)
		}
	})
}

package durable

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

//go:embed testdata/worker.js
var source string

const key = "Obj"

// keep opens a Keeper on the data of a version.
func keep(t *testing.T, v volume.Volumes, dir, version string, set ...func(*Config)) *Keeper {
	t.Helper()
	c := Config{Dir: dir, Version: version, Volumes: v, Keys: []string{key}, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for _, f := range set {
		f(&c)
	}
	k, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// worker is a workerd with objects in the directory of a Keeper.
type worker struct {
	cmd    *exec.Cmd
	client *http.Client
	opens  *confine.Calls // nil where they are not reported
	lazy   bool
}

func serve(t *testing.T, k *Keeper) *worker {
	t.Helper()
	w := serveOnly(t, k)
	k.Follow(t.Context(), w.pause)
	return w
}

// serveOnly does not tell the Keeper.
func serveOnly(t *testing.T, k *Keeper) *worker {
	t.Helper()
	run := svctest.ShortDir(t)
	socket := filepath.Join(run, "s")
	text, err := workerd.Render(workerd.Config{
		Services: []workerd.Service{
			{Name: "objects", Disk: &workerd.Disk{Path: k.Dir(), Writable: true}},
			{Name: "worker", Worker: &workerd.Worker{
				Modules: []workerd.Module{{Name: "index.js", Type: workerd.ESModule, Source: source}}, CompatibilityDate: "2026-11-01",
				Bindings:      []workerd.Binding{{Name: "OBJ", ObjectClass: "Obj"}},
				ObjectClasses: []workerd.ObjectClass{{Name: "Obj", Key: key, SQL: true}}, ObjectStorage: "objects",
			}},
		},
		Sockets: []workerd.Socket{{Name: "http", Address: "unix:" + socket, Service: workerd.ServiceRef{Name: "worker"}}},
	})
	config := filepath.Join(run, "config.capnp")
	if err == nil {
		err = os.WriteFile(config, text, 0o600)
	}
	r, w, pipeErr := os.Pipe()
	if err = errors.Join(err, pipeErr); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	args := workerd.Command(workerdtest.Binary(t), workerd.Options{Config: config, ControlFD: 3})
	var output svctest.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr, cmd.Env = []*os.File{w}, &output, &output, []string{}
	opens, err := start(t, k, cmd)
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := workerd.AwaitListening(r, "http"); err != nil {
		t.Fatalf("workerd: %v\n%s", err, output.String())
	}
	return &worker{cmd: cmd, opens: opens, lazy: opens != nil, client: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}}
}

// start starts cmd so that k makes the files that it opens, where the system reports that.
func start(t *testing.T, k *Keeper, cmd *exec.Cmd) (opens *confine.Calls, err error) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and ends with the goroutine
		var err error
		if opens, err = confine.Notify(true, false); err != nil {
			opens = nil
			started <- errors.Join(k.MakeAll(ctx), cmd.Start())
			return
		}
		go func() {
			_ = opens.Serve(0, confine.Handlers{Open: func(path string, unread error) error {
				if unread != nil {
					return k.MakeAll(ctx)
				}
				return k.Opening(ctx, path)
			}})
		}()
		started <- cmd.Start()
	}()
	err = <-started
	return opens, err
}

func (w *worker) pause() (func(), error) {
	err := w.cmd.Process.Signal(syscall.SIGSTOP)
	return func() { _ = w.cmd.Process.Signal(syscall.SIGCONT) }, err
}

// end ends workerd and waits until it is gone.
func (w *worker) end(signal syscall.Signal) {
	_ = w.cmd.Process.Signal(signal)
	_ = w.cmd.Wait()
	if w.opens != nil {
		_ = w.opens.Close()
	}
}

// get asks an object; a worker that is killed meanwhile does not answer.
func (w *worker) get(ctx context.Context, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://objects.test/"+path, nil)
	if err != nil {
		return "", err
	}
	resp, err := w.client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, body)
	}
	return string(body), err
}

func (w *worker) want(t *testing.T, path, want string) {
	t.Helper()
	if got, err := w.get(t.Context(), path); err != nil || got != want {
		t.Fatalf("%s: %q, %v; want %q", path, got, err, want)
	}
}

// images are the files that the rows would make, by class and name.
func images(t *testing.T, k *Keeper) map[string][]byte {
	t.Helper()
	rows, err := objects(t.Context(), k.db)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, r := range rows {
		var image []byte
		var pages map[uint32][]byte
		err := k.db.Read(t.Context(), func(c *raw.Conn) (err error) {
			pages, err = load(c, r)
			for n := uint32(1); n <= r.pages; n++ {
				image = append(image, pages[n]...)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if isIndex(r.name) {
			if image, err = indexContent(pages); err != nil {
				t.Fatal(err)
			}
		}
		all[r.class+"/"+r.name] = image
	}
	return all
}

// sound checks that an image is an object after one of its commits.
func sound(t *testing.T, name string, image []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.sqlite")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	check := func(text string) (got string) {
		if err := c.Query(text, nil, func(s *raw.Stmt) error { got = s.Text(0); return nil }); err != nil {
			t.Errorf("%s: %s: %v", name, text, err)
		}
		return got
	}
	if got := check("PRAGMA integrity_check"); got != "ok" {
		t.Errorf("%s: %s", name, got)
	}
	if check("SELECT count(*) FROM sqlite_schema WHERE name = 'c'") == "1" {
		rows := check("SELECT count(*) || ' ' || coalesce(sum(length(v)), 0) FROM t")
		if kept := check("SELECT n || ' ' || s FROM c"); kept != rows && kept != "" {
			t.Errorf("%s is between two commits: %s, and c says %s", name, rows, kept)
		}
	}
}

// equal compares the files with the rows. workerd is gone and the Keeper closed.
func equal(t *testing.T, k *Keeper) {
	t.Helper()
	found := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(k.Dir(), "*", "*"+suffix))
	indexes, indexErr := filepath.Glob(filepath.Join(k.Dir(), "*", "*"+indexSuffix))
	if err = errors.Join(err, indexErr); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(files, indexes...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 0 {
			name, _ := nameOf(filepath.Base(path))
			found[key+"/"+name] = data
		}
	}
	kept := images(t, k)
	for name, data := range found {
		if !bytes.Equal(data, kept[name]) {
			t.Errorf("%s: the file has %d bytes, the rows give %d, and they differ", name, len(data), len(kept[name]))
		}
	}
	for name := range kept {
		if found[name] == nil && k.opened[family(key, strings.TrimPrefix(name, key+"/"))] {
			t.Errorf("%s was opened, has rows and no file", name)
		}
	}
}

package push_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/runtime"
	"github.com/svcctl/svcctl/internal/workerd"
	"github.com/svcctl/svcctl/internal/workerd/workerdtest"
)

// answer runs an unpacked bundle in workerd as a version's host does, without
// its resources, and gives the JSON it answers with.
func answer(t *testing.T, m bundle.Manifest, dir string) map[string]any {
	t.Helper()
	run, err := os.MkdirTemp("", "push") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	if err := os.Mkdir(filepath.Join(run, "ping"), 0o700); err != nil {
		t.Fatal(err)
	}
	var env []workerd.Binding
	for name, v := range m.Vars {
		b := workerd.Binding{Name: name, Text: v.Text}
		if v.Text == nil {
			text := string(v.JSON)
			b.JSON = &text
		}
		env = append(env, b)
	}
	config, err := workerd.Render(runtime.Compose(runtime.Composition{Manifest: &m, BundleDir: dir, Env: env, RunDir: run, HeapMB: 128}))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(run, "config.capnp")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	serve(t, path)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", filepath.Join(run, "http.sock"))
	}}}
	resp, err := client.Get("http://worker/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var value map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&value); err != nil {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return value
}

func serve(t *testing.T, config string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	args := workerd.Command(workerdtest.Binary(t), workerd.Options{Config: config, ControlFD: 3})
	var output bytes.Buffer
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr, cmd.Env = []*os.File{w}, &output, &output, []string{}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := workerd.AwaitListening(r, "http"); err != nil {
		_ = cmd.Wait()
		t.Fatalf("workerd: %v\n%s", err, output.String())
	}
}

func zombie(t *testing.T, pid int) bool {
	t.Helper()
	out, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	state := strings.TrimSpace(string(out))
	return state == "" || strings.HasPrefix(state, "Z")
}

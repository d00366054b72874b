package build_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/host/workerhost"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// answer runs an unpacked bundle in workerd as a version's host does, without
// its resources, and gives the JSON it answers with.
func answer(t *testing.T, m bundle.Manifest, dir string) map[string]any {
	t.Helper()
	run := svctest.ShortDir(t)
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
	config := workerhost.Compose(workerhost.Composition{
		Manifest: &m, BundleDir: dir, Env: env, RunDir: run, HeapMB: 128, Network: &workerd.Network{Allow: []string{"public"}},
	})
	client := workerdtest.Serve(t, config, filepath.Join(run, "http.sock"))
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

func zombie(t *testing.T, pid int) bool {
	t.Helper()
	out, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	state := strings.TrimSpace(string(out))
	return state == "" || strings.HasPrefix(state, "Z")
}

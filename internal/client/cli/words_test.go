package cli

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
)

// run runs a command line with a home of its own.
func run(t *testing.T, environ []string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	k := &kit.Kit{Streams: kit.Streams{Out: &stdout, Err: &stderr}, Dir: t.TempDir(), Environ: append(environ, "HOME="+t.TempDir())}
	code = Main(t.Context(), args, k, forms())
	return code, stdout.String(), stderr.String()
}

// TestWrongAddress: what is said to people who mistook the address of the server.
func TestWrongAddress(t *testing.T) {
	t.Parallel()
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"items":[],"next_cursor":null}`)
	})
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	swap := strings.NewReplacer("http://", "https://", "https://", "http://")
	for name, tc := range map[string]struct {
		args []string
		exit int
		says string
		code string // in JSON
	}{
		"http":                {[]string{"--server", plain.URL}, kit.ExitOK, "", ""},
		"https to http":       {[]string{"--server", swap.Replace(plain.URL)}, kit.ExitUsage, "use an http:// address", "wrong_server"},
		"http to https":       {[]string{"--server", swap.Replace(secure.URL)}, kit.ExitUsage, "the server speaks HTTPS, not HTTP: use an https:// address", "wrong_server"},
		"unknown certificate": {[]string{"--server", secure.URL}, kit.ExitFailure, "--ca-file FILE", "certificate_unknown"},
		"known certificate":   {[]string{"--server", secure.URL, "--ca-file", ca}, kit.ExitOK, "", ""},
		"no such file":        {[]string{"--server", secure.URL, "--ca-file", "none"}, kit.ExitUsage, "--ca-file", "usage"},
	} {
		args := append([]string{"projects", "list"}, tc.args...)
		environ := []string{"SVCCTL_ADMIN_TOKEN=x"}
		code, _, errs := run(t, environ, args...)
		if code != tc.exit || !strings.Contains(errs, tc.says) {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
		_, _, errs = run(t, environ, append(args, "-o", "json")...)
		var p struct {
			Code string `json:"code"`
		}
		if err := json.Unmarshal([]byte(errs), &p); tc.code != "" && (err != nil || p.Code != tc.code) {
			t.Errorf("%s: %v, code %q", name, err, p.Code)
		}
	}
}

// TestGoneDaemon: a daemon that was killed left its note; its tokens are not sent.
func TestGoneDaemon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	note, err := json.Marshal(config.Note{PID: 1 << 30, API: "http://127.0.0.1:8790", AdminToken: "hunter2", DeployToken: "hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config.NotePath(dir), note, 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := run(t, []string{"SVC_DATA_DIR=" + dir}, "projects", "list")
	want := "Error: the daemon at http://127.0.0.1:8790 (process 1073741824) is no longer running: start it with: svcctl serve, or set SVCCTL_SERVER\n"
	if code != kit.ExitBusy || errs != want {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, _, errs = run(t, []string{"SVC_DATA_DIR=" + dir}, "projects", "list", "--server", "https://deploy.example.com"); code != kit.ExitAuth {
		t.Errorf("another server: exit %d, %s", code, errs)
	}
}

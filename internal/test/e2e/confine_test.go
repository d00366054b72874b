//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

const secretive = `export default { async fetch(request, env) {
  if (request.method === "PUT") await env.KV.put("key", "secret of the victim");
  return new Response(await env.KV.get("key"));
} }`

// stranger is a user without rights.
const stranger = "4242"

// TestConfinedWorkerd: a program in place of workerd, which stands for a worker that has broken out of
// V8, reaches nothing of another version of the same server and user: it finds no socket, and gets no
// answer from any although it has their paths; it ends no process, changes no mode and executes no
// program. Nor do the sockets at which the server itself listens answer another process that is not
// confined. As root the test does that as another user, too.
func TestConfinedWorkerd(t *testing.T) {
	t.Parallel()
	users := []string{strconv.Itoa(os.Geteuid())}
	if os.Geteuid() == 0 {
		users = append(users, stranger)
	}
	for _, uid := range users {
		t.Run("uid "+uid, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			bin := programs(t, l.Addr().String())
			tokens := filepath.Join(bin, "tokens.yaml")
			if err := os.WriteFile(tokens, []byte("tokens:\n  - {name: edge, role: gateway, token: a-token-of-a-gateway}\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			d := newDaemon(t, "SVC_WORKERD="+filepath.Join(bin, "workerd"), "SVC_WORKER_CONFINE=auto",
				"SVC_TOKENS_FILE="+tokens, "SVC_GATEWAYS_LISTEN="+freeAddress(t)) // with gateway.sock
			if uid != users[0] {
				d.wrap = []string{"setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"}
				d.bin = filepath.Join(bin, "svcctl")
				if err := os.Chown(d.home, 4242, 4242); err != nil {
					t.Fatal(err)
				}
			}
			if !d.start() {
				t.Fatalf("the daemon ended:\n%s", d.log.String())
			}
			d.breakOut(l, bin, false)
		})
	}
}

// breakOut deploys a victim, and then a version whose workerd is the other program. With free, nothing
// confines that but its user: it sees names of sockets, and executes programs.
func (d *daemon) breakOut(l net.Listener, bin string, free bool) {
	t := d.t
	victim := d.deploy(worker(t, `{ "name": "victim", "main": "index.js", "compatibility_date": "2026-11-01", "kv_namespaces": [{ "binding": "KV", "id": "KV" }],
		"services": [{ "binding": "OTHER", "service": "other" }] }`, map[string]string{"index.js": secretive}), "--version", "v1", "--allow-missing", "services")
	if a := d.do("PUT", victim.PreviewURL, "", ""); a.Body != "secret of the victim" {
		t.Fatalf("the victim: %+v", a)
	}
	asked := d.wish()
	swap(t, bin)
	got := make(chan result, 1)
	go func() { got <- converse(l, asked) }()
	dir := worker(t, `{ "name": "thief", "main": "index.js", "compatibility_date": "2026-11-01" }`, map[string]string{"index.js": secretive})
	_, stderr, code := d.run(dir, "deploy", "--wait", "--version", "v1") // the program serves nothing
	if code == 0 {
		t.Error("a program that is no workerd serves")
	}
	var r result
	select {
	case r = <-got:
	case <-time.After(svctest.Patience):
		t.Fatalf("the program did not run: %s", stderr)
	}
	if r.err != nil {
		t.Fatalf("the program: %v", r.err)
	}
	for path, text := range r.Answers {
		if text != "" {
			t.Errorf("%s answers another version's workerd: %q", path, text)
		}
		if !ours(path) {
			continue
		}
		if text := unconfined(t, path); text != "" {
			t.Errorf("%s answers another process: %q", path, text)
		}
	}
	if len(r.Answers) < 8 || len(r.Read)+len(r.Changed)+len(r.Limited) > 0 || free != (len(r.Listed) > 0) || free != r.Executed {
		t.Errorf("the program got %+v", r)
	}
	if a := d.get(victim.PreviewURL); a.Body != "secret of the victim" {
		t.Errorf("the victim then: %+v", a)
	}
}

// unconfined returns what a socket answers to this process.
func unconfined(t *testing.T, path string) string {
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(svctest.Patience))
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") // it may be closed
	b := make([]byte, 100)
	n, _ := conn.Read(b)
	return string(b[:n])
}

// ours reports whether the server listens at a socket, and for one process. At others workerd does, which
// does not look at who connects, and the object store asks for keys.
func ours(path string) bool {
	return !slices.Contains([]string{"http.sock", "ping.sock", "wait.sock", "door.sock", "call.sock", "s3.sock"}, filepath.Base(path))
}

type wish struct {
	Sockets, Files []string
	PIDs           []int
}

type result struct {
	Listed, Changed, Read []string
	Answers               map[string]string
	Limited               []int
	Executed              bool

	err error // of the conversation
}

// wish is everything that the daemon has.
func (d *daemon) wish() (w wish) {
	d.t.Helper()
	w.PIDs = []int{d.cmd.Process.Pid}
	for _, p := range d.processes() {
		pid, _, _ := strings.Cut(p, " ")
		n, err := strconv.Atoi(pid)
		if err != nil {
			d.t.Fatal(err)
		}
		w.PIDs = append(w.PIDs, n)
	}
	for _, pattern := range []string{"run/v/*/*", "run/*.sock"} {
		found, _ := filepath.Glob(filepath.Join(d.dataDir(), pattern))
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
				w.Sockets = append(w.Sockets, path)
			}
		}
	}
	for _, name := range []string{"secrets.json", "registry.db", "object-store/keys.json", "cache/victim/v1/*", "versions/victim/v1/*", "logs/victim/v1/*"} {
		found, err := filepath.Glob(filepath.Join(d.dataDir(), name))
		if err != nil || len(found) == 0 {
			d.t.Fatalf("%s: %v, %v", name, found, err)
		}
		w.Files = append(w.Files, found...)
	}
	return w
}

// converse tells the program what to try, and returns what it got.
func converse(l net.Listener, w wish) (r result) {
	conn, err := l.Accept()
	if err == nil {
		defer conn.Close()
		err = json.NewEncoder(conn).Encode(w)
	}
	if err == nil {
		err = json.NewDecoder(conn).Decode(&r)
	}
	r.err = err
	return r
}

// programs makes a directory that all users may enter: with workerd, the program under test, and the
// program that swap puts in place of workerd.
func programs(t *testing.T, address string) string {
	t.Helper()
	dir := svctest.ShortDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{"workerd": workerd, "svcctl": svcctl} {
		duplicate(t, from, filepath.Join(dir, name))
	}
	build := exec.Command("go", "build", "-ldflags=-X main.test="+address, "-o", filepath.Join(dir, "thief"), "./testdata/confine")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

func duplicate(t *testing.T, from, to string) {
	t.Helper()
	if os.Link(from, to) == nil && os.Chmod(to, 0o755) == nil {
		return
	}
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err == nil {
		_, err = io.Copy(target, source)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}

func swap(t *testing.T, bin string) {
	t.Helper()
	if err := os.Rename(filepath.Join(bin, "thief"), filepath.Join(bin, "workerd")); err != nil {
		t.Fatal(fmt.Errorf("swap: %w", err))
	}
}

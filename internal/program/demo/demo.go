package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/examples"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
)

// project is the directory of the worker in the directory of the demo.
const project = "guestbook"

// demo is one run.
type demo struct {
	bin    string
	dir    string // the working directory of the commands
	env    []string
	out    io.Writer
	errs   io.Writer
	server *exec.Cmd
	note   config.Note
}

// Run runs bin, which is svcctl, as a user would: on free ports and in a temporary directory, which it
// removes. It shows what each command and each host answers, and fails when an answer is not the expected one.
func Run(ctx context.Context, k *kit.Kit, bin string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	began := time.Now()
	dir, err := os.MkdirTemp("", "svcctl-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, examples.Guestbook); err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	d := &demo{bin: bin, dir: dir, out: k.Out, errs: k.Err, env: append(slices.Clone(k.Environ), "SVC_DATA_DIR="+data, "PLATFORM_PORT=0", "GATEWAY_PORT=0",
		"SVC_EMBEDDED_S3_ADDR=127.0.0.1:0", "SVC_LOG_LEVEL=warn", "SVCCTL_OUTPUT=", "SVCCTL_SERVER=", "SVC_INGRESS_BASE_DOMAIN=ingress.local", "SVC_PREVIEW_URL_TEMPLATE=", "GATEWAY_URL=")}
	if err := d.serve(ctx, data); err != nil {
		return err
	}
	if err := errors.Join(d.tour(ctx), d.stop()); err != nil {
		return err
	}
	d.printf("\nthe demo took %s\n", time.Since(began).Round(100*time.Millisecond))
	return nil
}

func (d *demo) printf(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

// tour is the demonstration itself.
func (d *demo) tour(ctx context.Context) error {
	const one, prod = "one.guestbook.ingress.local", "guestbook.ingress.local"
	for _, step := range []func() error{
		func() error { return d.cli(ctx, "deploy", project, "--version", "one", "--wait") },
		func() error { return d.expect(ctx, one, signed("Ada"), `"name":"Ada"`) },
		func() error { return d.expect(ctx, prod, get, `"greeting":"Hello","version":"one"`, `"Ada"`) },
		func() error {
			return d.cli(ctx, "deploy", project, "--release", "--version", "two", "--var", "GREETING:Good day")
		},
		func() error {
			return d.expect(ctx, prod, get, `"greeting":"Good day","version":"two"`, `"Ada"`) // the entry is still there
		},
		func() error { return d.chat(ctx, prod, "Grace", "Good day, Grace (from two)") },
		func() error { return d.expect(ctx, prod, signed("Grace"), `"name":"Grace"`) },
		func() error { return d.cli(ctx, "rollback", "--project", "guestbook", "--keep-data") },
		func() error { return d.expect(ctx, prod, get, `"greeting":"Hello"`, `"Grace"`, `"Ada"`) },
		func() error { return d.cli(ctx, "versions", "list", "--project", "guestbook") },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// serve starts the daemon and waits for the note it leaves when it serves.
func (d *demo) serve(ctx context.Context, dir string) error {
	d.printf("$ svcctl serve &\n")
	d.server = exec.Command(d.bin, "serve") //nolint:noctx // stop ends it with SIGTERM
	d.server.Env, d.server.Dir, d.server.Stdout, d.server.Stderr = d.env, d.dir, d.out, d.errs
	d.server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is ours: stop() passes it on
	if err := d.server.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- d.server.Wait() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if note, err := config.ReadNote(dir); err == nil {
			d.note = note
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the daemon ended: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// stop ends the daemon and checks that it exits gracefully.
func (d *demo) stop() error {
	d.printf("\n$ kill %%1\n")
	if err := d.server.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	deadline := time.After(30 * time.Second)
	for {
		if errors.Is(d.server.Process.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			return nil
		}
		select {
		case <-deadline:
			return errors.Join(errors.New("the daemon does not stop"), d.server.Process.Kill())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// cli runs one command as a user would type it.
func (d *demo) cli(ctx context.Context, args ...string) error {
	d.printf("\n$ svcctl %s\n", strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, d.bin, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = d.env, d.dir, d.out, d.errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("svcctl %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

type request struct{ method, path, body string }

var get = request{method: http.MethodGet, path: "/api"} //nolint:gochecknoglobals // a constant in all but type

// signed is an entry of a visitor in the guestbook.
func signed(name string) request {
	return request{method: http.MethodPost, path: "/entries", body: fmt.Sprintf(`{"name":%q,"message":"hello"}`, name)}
}

// expect sends a request to a host through the gateway, shows the answer and
// checks that it holds every one of want.
func (d *demo) expect(ctx context.Context, host string, r request, want ...string) error {
	req, err := http.NewRequestWithContext(ctx, r.method, "http://"+host+r.path, strings.NewReader(r.body))
	if err != nil {
		return err
	}
	resp, err := d.client().Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	d.printf("%s http://%s%s  (version %s)\n  %s\n", r.method, host, r.path, resp.Header.Get("Svc-Version"), body)
	for _, w := range want {
		if !bytes.Contains(body, []byte(w)) {
			return fmt.Errorf("http://%s%s does not answer %s", host, r.path, w)
		}
	}
	return nil
}

// chat says something on the worker's websocket and checks the reply.
func (d *demo) chat(ctx context.Context, host, say, want string) error {
	ws, _, err := websocket.Dial(ctx, "ws://"+host+"/live", &websocket.DialOptions{HTTPClient: d.client()}) //nolint:bodyclose // it has none
	if err != nil {
		return fmt.Errorf("websocket: %w", err)
	}
	defer ws.CloseNow() //nolint:errcheck // closed below when all is well
	if err := ws.Write(ctx, websocket.MessageText, []byte(say)); err != nil {
		return err
	}
	_, reply, err := ws.Read(ctx)
	d.printf("WS ws://%s/live\n  > %s\n  < %s\n", host, say, reply)
	if err != nil || string(reply) != want {
		return fmt.Errorf("the websocket answered %q, want %q (%w)", reply, want, err)
	}
	return ws.Close(websocket.StatusNormalClosure, "")
}

// client takes every host to the gateway, as the DNS of a real base domain would.
func (d *demo) client() *http.Client {
	var dialer net.Dialer
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", strings.TrimPrefix(d.note.Gateway, "http://"))
		},
	}}
}

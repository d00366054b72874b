package workerdtest

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// Serve runs workerd with a config whose socket "http" is the unix socket at path.
// It returns when workerd listens there, with a client whose requests all go
// there. workerd ends with the test.
func Serve(t testing.TB, config workerd.Config, path string) *http.Client {
	t.Helper()
	client, _ := ServeProcess(t, config, path)
	return client
}

// ServeProcess is Serve, which also gives the id of workerd's process.
func ServeProcess(t testing.TB, config workerd.Config, path string) (client *http.Client, pid int) {
	t.Helper()
	text, err := workerd.Render(config)
	file := filepath.Join(t.TempDir(), "config.capnp")
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	args := workerd.Command(Binary(t), workerd.Options{Config: file, ControlFD: 3})
	var output svctest.Buffer
	cmd := command(args[0], args[1:]...)
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr, cmd.Env = []*os.File{w}, &output, &output, workerd.Environ(nil)
	err = cmd.Start()
	_ = w.Close() // workerd has its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := workerd.AwaitListening(r, "http"); err != nil {
		t.Fatalf("workerd: %v\n%s", err, output.String())
	}
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, // a request on a kept connection may be sent twice
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}, cmd.Process.Pid
}

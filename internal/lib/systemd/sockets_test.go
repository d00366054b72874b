package systemd_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/systemd"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"old": old, "new": fresh})
}

// old takes the socket of a service manager, closes its listener and replaces itself.
func old(context.Context, []string) error {
	s, err := systemd.Inherit(append(os.Environ(), fmt.Sprintf("LISTEN_PID=%d", os.Getpid())), os.Getpid())
	if err != nil {
		return err
	}
	l := s.Take("gateway")
	kept, err := systemd.Keep(map[string]net.Listener{"gateway": l})
	if err != nil {
		return err
	}
	if err := l.Close(); err != nil {
		return err
	}
	fmt.Printf("%d closed\n", os.Getpid())
	if _, err := io.ReadAll(os.Stdin); err != nil { // until the test has connected
		return err
	}
	return kept.Exec(svctest.Command("new"), os.Environ())
}

// fresh answers one connection with its process id.
func fresh(context.Context, []string) error {
	s, err := systemd.Inherit(os.Environ(), os.Getpid())
	if err != nil {
		return err
	}
	c, err := s.Take("gateway").Accept()
	if err != nil {
		return err
	}
	fmt.Fprintf(c, "answered by %d", os.Getpid())
	return c.Close()
}

// TestHandOver: a connection that is made while no process accepts is answered by the
// next program, which has the same process id.
func TestHandOver(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		t.Fatalf("%T", l)
	}
	file, err := tcp.File()
	if err != nil {
		t.Fatal(err)
	}
	argv := svctest.Command("old")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LISTEN_FDS=1", "LISTEN_FDNAMES=gateway")
	cmd.ExtraFiles, cmd.Stderr = []*os.File{file}, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.Close()
	file.Close()
	var pid int
	if _, err := fmt.Fscanf(out, "%d closed\n", &pid); err != nil {
		t.Fatal(err)
	}
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("refused while no process accepts: %v", err)
	}
	in.Close()
	said, err := io.ReadAll(c)
	if want := fmt.Sprintf("answered by %d", pid); err != nil || string(said) != want {
		t.Errorf("%q, %v; want %q", said, err, want)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestInheritRejects(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SVCD_SOCKETS=api=x":                               "not a name and a descriptor",
		"LISTEN_PID=7 LISTEN_FDS=many":                     "not a number of sockets",
		"LISTEN_PID=7 LISTEN_FDS=2 LISTEN_FDNAMES=gateway": "FileDescriptorName",
	} {
		if _, err := systemd.Inherit(strings.Fields(text), 7); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	s, err := systemd.Inherit([]string{"LISTEN_PID=8", "LISTEN_FDS=1", "LISTEN_FDNAMES=api"}, 7)
	if err != nil || s.Take("api") != nil {
		t.Errorf("sockets of another process: %v, %v", s, err)
	}
}

package peer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/peer"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"connect": connect, "host": host})
}

// connect says "yes" if the socket args[0] answers.
func connect(ctx context.Context, args []string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", args[0])
	if err != nil {
		return err
	}
	defer conn.Close()
	answer, _ := io.ReadAll(conn) // a reset is no answer
	fmt.Fprintln(os.Stdout, string(answer))
	return nil
}

// host waits for a line and has a child connect to the socket args[0].
func host(_ context.Context, args []string) error {
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	line := svctest.Command("connect", args...)
	out, err := exec.Command(line[0], line[1:]...).Output()
	_, _ = os.Stdout.Write(out)
	return err
}

// TestOnly: a listener accepts this process, a process and its children, and no others, which get
// nothing.
func TestOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(svctest.ShortDir(t), "socket")
	line := svctest.Command("host", path)
	worker := exec.Command(line[0], line[1:]...)
	in, err := worker.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := worker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan int, 2)
	l = peer.Only(l, worker.Process.Pid, func(pid int) { refused <- pid })
	served := make(chan error, 1)
	go func() { served <- serve(l) }()
	if got := svctest.Start(t, "connect", path).Result(t); got[0] != "" {
		t.Errorf("a stranger got %q", got)
	}
	stranger := svctest.Wait(t, "the refusal", refused)
	if conn, err := net.Dial("unix", path); err != nil || stranger == os.Getpid() {
		t.Errorf("%v; refused %d", err, stranger)
	} else if got, err := io.ReadAll(conn); string(got) != "yes" {
		t.Errorf("this process got %q, %v", got, err)
	}
	_, _ = io.WriteString(in, "\n")
	if got, err := io.ReadAll(out); string(got) != "yes\n" {
		t.Errorf("a child of the worker host got %q, %v", got, err)
	}
	if err := worker.Wait(); err != nil {
		t.Error(err)
	}
	_ = l.Close()
	if err := svctest.Wait(t, "the end", served); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// TestOnlySelf: without a worker host, children of this process are refused as well.
func TestOnlySelf(t *testing.T) {
	t.Parallel()
	path := filepath.Join(svctest.ShortDir(t), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l = peer.Only(l, 0, nil)
	served := make(chan error, 1)
	go func() { served <- serve(l) }()
	if got := svctest.Start(t, "connect", path).Result(t); got[0] != "" {
		t.Errorf("a child got %q", got)
	}
	_ = l.Close()
	<-served
}

// serve answers all connections.
func serve(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		_, _ = io.WriteString(conn, "yes")
		_ = conn.Close()
	}
}

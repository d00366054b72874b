package s3server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Config configures a Server and its child.
type Config struct {
	Dir     string // for data and keys alone
	Socket  string // unix socket for the daemon; its directory must be private
	Address string // TCP address for clients; "" for none, port 0 chooses one
	// Connections is the maximum number of connections to Address, Timeout the time without
	// a byte after which one is closed; 0: DefaultConnections and DefaultTimeout.
	Connections int
	Timeout     time.Duration
	// NoSync acknowledges writes before they are on the disk: a failure of the power may lose
	// or tear the objects of the last half minute. For watch mode.
	NoSync bool

	Command []string // the program and arguments that call Run with stdin
	Env     []string // the child's environment
	Logger  *slog.Logger
}

// Defaults of Config.
const (
	DefaultConnections = 1024
	DefaultTimeout     = time.Minute
)

// Server is the daemon's side of the embedded object store.
type Server struct {
	cfg     Config
	keys    Keys
	address string

	stop context.CancelFunc
	done chan struct{}

	mu  sync.Mutex
	pid int
}

// Keys are the credentials of the object store, generated once.
type Keys struct {
	AccessKey string     `json:"access_key"`
	SecretKey svc.Secret `json:"-"`
}

// New loads or generates the keys; it starts nothing.
func New(cfg Config) (*Server, error) {
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create directory of object store: %w", err)
	}
	keys, err := loadKeys(filepath.Join(cfg.Dir, "keys.json"))
	if err != nil {
		return nil, err
	}
	address, err := choosePort(cfg.Address)
	if err != nil {
		return nil, err
	}
	return &Server{cfg: cfg, keys: keys, address: address, done: make(chan struct{})}, nil
}

// choosePort replaces port 0 by a port, since the gateway does not report the port of
// its listener. It chooses one outside the usual range of ephemeral ports: the child
// listens on it later, and again after each restart.
func choosePort(address string) (string, error) {
	if address == "" {
		return "", nil
	}
	if host, port, err := net.SplitHostPort(address); err == nil && port == "0" {
		for range 100 {
			chosen := net.JoinHostPort(host, strconv.Itoa(20_000+mathrand.IntN(12_000))) //nolint:gosec // no secret
			if l, err := net.Listen("tcp", chosen); err == nil {                         //nolint:noctx // closed immediately
				return chosen, l.Close()
			}
		}
	}
	l, err := net.Listen("tcp", address) //nolint:noctx // closed immediately
	if err != nil {
		return "", fmt.Errorf("listen on SVC_EMBEDDED_S3_ADDR: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// Keys returns the credentials for clients.
func (s *Server) Keys() Keys { return s.keys }

// Endpoint is the URL for S3 tools, "" without a TCP address. Call it after Start, which may
// choose another port for port 0.
func (s *Server) Endpoint() string {
	if s.address == "" {
		return ""
	}
	return "http://" + s.address
}

// KeysFile is the path of the credentials, for messages to users.
func (s *Server) KeysFile() string { return filepath.Join(s.cfg.Dir, "keys.json") }

// PID is the process id of the running child, 0 while it restarts.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pid
}

// Start runs the child and returns when it answers. ctx bounds the start only.
func (s *Server) Start(ctx context.Context) error {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = cancel
	child, err := s.begin(ctx)
	// Another program may have taken the chosen port in the meantime.
	for tries := 0; err != nil && ctx.Err() == nil && s.address != s.cfg.Address && tries < 3; tries++ {
		if s.address, err = choosePort(s.cfg.Address); err == nil {
			child, err = s.begin(ctx)
		}
	}
	if err != nil {
		cancel()
		close(s.done)
		return fmt.Errorf("start embedded object store: %w", err)
	}
	go s.keep(run, child)
	return nil
}

// begin returns a child that answers.
func (s *Server) begin(ctx context.Context) (*child, error) {
	c, err := s.spawn()
	if err == nil {
		err = c.ready(ctx, s.cfg.Socket)
	}
	if err != nil && c != nil {
		c.end()
	}
	return c, err
}

// Stop ends the child and waits for it. It may be called twice.
func (s *Server) Stop() {
	if s.stop == nil {
		return
	}
	s.stop()
	<-s.done
}

// keep restarts the child whenever it ends, until ctx ends.
func (s *Server) keep(ctx context.Context, c *child) {
	defer close(s.done)
	for {
		select {
		case <-ctx.Done():
			c.end()
			return
		case <-c.exited:
			s.cfg.Logger.ErrorContext(ctx, "object store exited; restarting", "error", c.why())
		}
		for c = nil; c == nil; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
			var err error
			if c, err = s.spawn(); err != nil {
				s.cfg.Logger.ErrorContext(ctx, "object store start failed; retrying", "error", err)
			}
		}
	}
}

func (s *Server) spawn() (*child, error) {
	if err := os.Remove(s.cfg.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket: %w", err)
	}
	cmd := exec.Command(s.cfg.Command[0], s.cfg.Command[1:]...) //nolint:noctx // our own binary; it outlives the call and end() stops it
	cmd.Env = s.cfg.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c := &child{cmd: cmd, exited: make(chan struct{})}
	cmd.Stderr = &c.stderr
	var err error
	if c.parent, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.setPID(cmd.Process.Pid)
	go func() {
		_ = cmd.Wait() // ProcessState tells how it ended
		s.setPID(0)
		close(c.exited)
	}()
	return c, json.NewEncoder(c.parent).Encode(setup{ //nolint:gosec // the keys go to our own child, on a pipe
		Dir: s.cfg.Dir, Socket: s.cfg.Socket, Address: s.address, Region: "us-east-1",
		AccessKey: s.keys.AccessKey, SecretKey: s.keys.SecretKey.Reveal(),
		NoSync: s.cfg.NoSync, Connections: cmp.Or(s.cfg.Connections, DefaultConnections), Timeout: cmp.Or(s.cfg.Timeout, DefaultTimeout),
	})
}

func (s *Server) setPID(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pid = pid
}

// child is one process of the object store.
type child struct {
	cmd    *exec.Cmd
	parent io.WriteCloser
	stderr tail
	exited chan struct{}
}

// ready waits until the socket accepts.
func (c *child) ready(ctx context.Context, socket string) error {
	var d net.Dialer
	for {
		conn, err := d.DialContext(ctx, "unix", socket)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-c.exited:
			return c.why()
		case <-ctx.Done():
			return fmt.Errorf("wait for its socket: %w", err)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// why tells how the child ended; call it after exited.
func (c *child) why() error {
	return fmt.Errorf("%v: %s", c.cmd.ProcessState, c.stderr.String())
}

// end closes the pipe, which stops the child, and kills the child after a time limit.
func (c *child) end() {
	_ = c.parent.Close()
	select {
	case <-c.exited:
	case <-time.After(5 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.exited
	}
}

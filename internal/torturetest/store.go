package torturetest

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/s3"
	"github.com/svcctl/svcctl/internal/s3/s3fault"
	"github.com/svcctl/svcctl/internal/s3server"
)

// Bucket is the one bucket of a Store.
const Bucket = "torture"

// Store is the embedded object store in a process that can be killed, and a
// proxy before it that can fail.
type Store struct {
	Way     *s3fault.Proxy
	Through s3.Config // by way of the proxy
	Direct  s3.Config

	server *s3server.Server
	client *s3.Store
}

// Start starts a store for a test. command is the program that calls
// s3server.Run, see s3test.
func Start(t testing.TB, command []string) *Store {
	t.Helper()
	dir, err := os.MkdirTemp("", "s3") //nolint:usetesting // short: it holds a unix socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // the store has ended
	server, err := s3server.New(s3server.Config{
		Dir: filepath.Join(dir, "store"), Socket: filepath.Join(dir, "s3.sock"), Address: "127.0.0.1:0",
		Command: command, Env: os.Environ(), Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = server.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	s := &Store{server: server, Way: s3fault.Start(t, server.Endpoint())}
	s.Direct = s3.Config{Endpoint: server.Endpoint(), AccessKey: server.Keys().AccessKey, SecretKey: server.Keys().SecretKey}
	s.Through = s.Direct
	s.Through.Endpoint = s.Way.Endpoint()
	if s.client, err = s3.New(s.Direct); err == nil {
		err = s.client.EnsureBucket(t.Context(), Bucket)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Kill kills the store's process, which is started again at once.
func (s *Store) Kill() error {
	pid := s.server.PID()
	if pid == 0 {
		return nil // it is being started
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// Open is the bucket Bucket below a prefix, without the proxy.
func (s *Store) Open(prefix string) *s3.Bucket { return s.Bucket(Bucket, prefix) }

// Bucket is a bucket below a prefix, without the proxy.
func (s *Store) Bucket(name, prefix string) *s3.Bucket { return s.client.Bucket(name, prefix) }

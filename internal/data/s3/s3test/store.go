package s3test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// StoreBucket is the one bucket of a new Store.
const StoreBucket = "crash"

// Store is the embedded object store in a process that a test can kill, behind a
// proxy that injects faults.
type Store struct {
	Way     *s3fault.Proxy
	Through s3.Config // through the proxy
	Direct  s3.Config

	server *s3server.Server
	client *s3.Store
}

// Start starts an object store for a test. command is a program that calls
// s3server.Run, see [Command].
func Start(t testing.TB, command []string) *Store {
	t.Helper()
	server := serve(t, command)
	s := &Store{server: server, Way: s3fault.Start(t, server.Endpoint()), Direct: configOf(server)}
	s.Through = s.Direct
	s.Through.Endpoint = s.Way.Endpoint()
	var err error
	if s.client, err = s3.New(s.Direct); err == nil {
		err = s.client.EnsureBucket(t.Context(), StoreBucket)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serve starts the embedded object store, which stops when the test ends.
func serve(t testing.TB, command []string) *s3server.Server {
	t.Helper()
	dir := svctest.ShortDir(t)
	server, err := s3server.New(s3server.Config{
		Dir: filepath.Join(dir, "store"), Socket: filepath.Join(dir, "s3.sock"), Address: "127.0.0.1:0",
		Command: command, Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = server.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return server
}

func configOf(server *s3server.Server) s3.Config {
	return s3.Config{Endpoint: server.Endpoint(), AccessKey: server.Keys().AccessKey, SecretKey: server.Keys().SecretKey}
}

// Kill kills the process of the object store, which its server restarts.
func (s *Store) Kill() error {
	pid := s.server.PID()
	if pid == 0 {
		return nil // it is starting
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// Open is the bucket StoreBucket below a prefix, without the proxy.
func (s *Store) Open(prefix string) *s3.Bucket { return s.Bucket(StoreBucket, prefix) }

// Bucket is a bucket below a prefix, without the proxy.
func (s *Store) Bucket(name, prefix string) *s3.Bucket { return s.client.Bucket(name, prefix) }

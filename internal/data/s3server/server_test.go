package s3server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// role is the role of the test binary as the server's child.
const role = "object-store"

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{aloneRole: runAlone, role: func(ctx context.Context, _ []string) error {
		ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
		defer stop()
		return s3server.Run(ctx, os.Stdin)
	}})
}

func start(t testing.TB) *s3server.Server {
	t.Helper()
	return startLogging(t, slog.New(slog.DiscardHandler))
}

func startLogging(t testing.TB, log *slog.Logger) *s3server.Server {
	t.Helper()
	dir := svctest.ShortDir(t)
	s, err := s3server.New(s3server.Config{
		Dir: filepath.Join(dir, "store"), Socket: filepath.Join(dir, "s3.sock"), Address: "127.0.0.1:0",
		Command: svctest.Command(role), Logger: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// TestPortTakenBeforeTheStart: a port that was chosen for port 0 and that another program has
// taken meanwhile is replaced by another one.
func TestPortTakenBeforeTheStart(t *testing.T) {
	t.Parallel()
	dir := svctest.ShortDir(t)
	var s *s3server.Server
	var other net.Listener
	for range 10 { // a test of another package may take the port first
		var err error
		if s, err = s3server.New(s3server.Config{
			Dir: filepath.Join(dir, "store"), Socket: filepath.Join(dir, "s3.sock"), Address: "127.0.0.1:0",
			Command: svctest.Command(role), Logger: slog.New(slog.DiscardHandler),
		}); err != nil {
			t.Fatal(err)
		}
		if other, err = net.Listen("tcp", strings.TrimPrefix(s.Endpoint(), "http://")); err == nil {
			break
		}
	}
	if other == nil {
		t.Fatal("no port that was chosen could be taken")
	}
	chosen := s.Endpoint()
	defer other.Close()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	if s.Endpoint() == chosen {
		t.Errorf("the store says that it listens on %s, which it does not have", chosen)
	}
	bucket(t, open(t, s.Endpoint(), s.Keys()), "over-tcp")
}

func open(t testing.TB, endpoint string, k s3server.Keys) *s3.Store {
	t.Helper()
	store, err := s3.New(s3.Config{Endpoint: endpoint, AccessKey: k.AccessKey, SecretKey: k.SecretKey})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func bucket(t testing.TB, store *s3.Store, name string) *s3.Bucket {
	t.Helper()
	for range 2 { // the second call finds the bucket
		if err := store.EnsureBucket(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	return store.Bucket(name, "")
}

func TestContractOverSocketAndTCP(t *testing.T) {
	t.Parallel()
	s := start(t)
	objstoretest.Run(t, bucket(t, open(t, "unix:"+socketOf(s), s.Keys()), "over-socket"))
	objstoretest.Run(t, bucket(t, open(t, s.Endpoint(), s.Keys()), "over-tcp"))
	prefixed := open(t, s.Endpoint(), s.Keys()).Bucket("over-tcp", "below/")
	objstoretest.Run(t, prefixed)
}

func TestProbe(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := bucket(t, open(t, "unix:"+socketOf(s), s.Keys()), "probed")
	for range 3 {
		begin := time.Now()
		if err := objstore.Probe(t.Context(), b, "probe"); err != nil {
			t.Fatal(err)
		}
		t.Logf("probed in %v", time.Since(begin))
	}
	if left, err := objstore.ListAll(t.Context(), b, ""); err != nil || len(left) > 0 {
		t.Errorf("the probe left %v, %v", left, err)
	}
}

func socketOf(s *s3server.Server) string {
	return filepath.Join(filepath.Dir(filepath.Dir(s.KeysFile())), "s3.sock")
}

func TestWrongKeysAreRejected(t *testing.T) {
	t.Parallel()
	s := start(t)
	bad := open(t, s.Endpoint(), s3server.Keys{AccessKey: s.Keys().AccessKey, SecretKey: svc.Secret("wrong")})
	if err := bad.EnsureBucket(t.Context(), "mine"); err == nil {
		t.Error("a wrong secret was accepted")
	}
	info, err := os.Stat(s.KeysFile())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("keys file: %v, %v", info.Mode(), err)
	}
	info, err = os.Stat(socketOf(s))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", info.Mode(), err)
	}
}

func TestSurvivesKill(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := bucket(t, open(t, "unix:"+socketOf(s), s.Keys()), "kept")
	for i := range 5 {
		key := fmt.Sprintf("k%d", i)
		if _, err := b.Put(t.Context(), key, strings.NewReader("v"), 1, objstore.Condition{IfAbsent: true}); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		svctest.Succeeds(t, "the object store to answer again", func() error {
			_, err := b.Stat(t.Context(), key)
			if errors.Is(err, objstore.ErrNotExist) {
				t.Fatalf("an acknowledged object is missing: %v", err)
			}
			return err
		})
	}
}

// TestTellsHowItsChildEnded: a child that exits without an error is named, too.
func TestTellsHowItsChildEnded(t *testing.T) {
	t.Parallel()
	log := &svctest.Buffer{}
	s := startLogging(t, slog.New(slog.NewTextHandler(log, nil)))
	if err := syscall.Kill(s.PID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "the exit is logged", func() bool { return strings.Contains(log.String(), "object store exited") })
	if text := log.String(); !strings.Contains(text, "exit status 0: ") {
		t.Error(text)
	}
}

func TestPresignedPut(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := bucket(t, open(t, s.Endpoint(), s.Keys()), "uploads")
	url, headers, err := b.PresignPut(t.Context(), "p/v/bundle.tar.zst", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{http.StatusOK, http.StatusPreconditionFailed} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader("bundle"))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range headers {
			req.Header.Set(k, v)
		}
		resp, err := (&http.Client{}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("status %d, want %d", resp.StatusCode, want)
		}
	}
}

package s3server_test

import (
	"context"
	"fmt"
	"net"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// aloneRole is the role of the test binary as a store without a daemon.
const aloneRole = "alone"

func runAlone(ctx context.Context, args []string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	return s3server.RunAlone(ctx, s3server.Alone{
		Dir: args[0], Address: "127.0.0.1:0", AccessKey: "key", SecretKey: "secret-of-the-test",
		Listening: func(at net.Addr) { fmt.Println("at", at) },
	})
}

// TestAlone: a store without a daemon has what a server requires, ends with SIGTERM, and keeps its
// objects for the next one.
func TestAlone(t *testing.T) {
	t.Parallel()
	dir := svctest.ShortDir(t) + "/store"
	for i := range 2 {
		p := svctest.Start(t, aloneRole, dir)
		if !p.AwaitLines(t, 1) {
			t.Fatal(p.Stderr())
		}
		store := open(t, "http://"+strings.TrimPrefix(p.Lines()[0], "at "), s3server.Keys{AccessKey: "key", SecretKey: "secret-of-the-test"})
		svctest.Succeeds(t, "the store answers", func() error { return store.EnsureBucket(t.Context(), "kept") })
		b := store.Bucket("kept", "")
		if err := objstore.Probe(t.Context(), b, "probe"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Stat(t.Context(), "object"); (err == nil) != (i == 1) {
			t.Errorf("run %d: %v", i, err)
		}
		if _, err := b.Put(t.Context(), "object", strings.NewReader("text"), 4, objstore.Condition{}); err != nil {
			t.Fatal(err)
		}
		p.Signal(syscall.SIGTERM)
		svctest.Wait(t, "the end of the store", p.Ended())
		if !p.State().Success() {
			t.Errorf("run %d: %v: %s", i, p.State(), p.Stderr())
		}
	}
}

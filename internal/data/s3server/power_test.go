//go:build power && linux

package s3server_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

var (
	powerCuts = flag.Int("power.cuts", 20, "how often TestPowerFailure cuts the power, on each filesystem")
	powerFS   = flag.String("power.fs", "ext4,xfs", "filesystems, each with its mkfs")
)

// TestPowerFailure writes to a filesystem and cuts its power, so that everything that
// is not on the disk is lost. After the next mount every acknowledged object must
// exist, and no object may have other content than was written. It needs root:
//
// go test -tags power -run PowerFailure ./internal/data/s3server -v -power.cuts 100
func TestPowerFailure(t *testing.T) {
	for fs := range strings.SplitSeq(*powerFS, ",") {
		t.Run(fs, func(t *testing.T) {
			p := &powered{t: t, disk: svctest.NewDisk(t, fs, t.TempDir()), acked: map[string]bool{}}
			for range *powerCuts {
				p.cut()
			}
			t.Logf("%d cuts, %d acknowledged objects kept, %d other objects", *powerCuts, p.kept, p.more)
			if p.kept == 0 {
				t.Error("nothing was written")
			}
		})
	}
}

// powered is an object store on a filesystem whose power can be cut.
type powered struct {
	t          *testing.T
	disk       *svctest.Disk
	kept, more int

	mu    sync.Mutex
	acked map[string]bool
	next  int
}

func (p *powered) start() *s3server.Server {
	p.t.Helper()
	p.disk.Mount()
	s, err := s3server.New(s3server.Config{
		Dir: filepath.Join(p.disk.Dir, "store"), Socket: filepath.Join(p.disk.Dir, "s3.sock"),
		Command: svctest.Command(role), Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = s.Start(p.t.Context())
	}
	if err != nil {
		p.disk.Unmount()
		p.t.Fatal(err)
	}
	return s
}

func (p *powered) bucket(s *s3server.Server) objstore.Bucket {
	store := open(p.t, "unix:"+socketOf(s), s.Keys())
	if err := store.EnsureBucket(p.t.Context(), "power"); err != nil {
		p.t.Fatal(err)
	}
	return store.Bucket("power", "")
}

// cut runs the object store with writers until a power failure.
func (p *powered) cut() {
	s := p.start()
	b := p.bucket(s)
	p.check(b)
	ctx, cancel := context.WithCancel(p.t.Context())
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { p.write(ctx, b) })
	}
	time.Sleep(time.Duration(200+rand.IntN(1200)) * time.Millisecond)
	p.disk.Cut()
	cancel()
	all.Wait()
	s.Stop()
	p.disk.Unmount()
}

func content(key string) []byte {
	n := 1 + len(key)*int(key[len(key)-1])*int(key[len(key)-2])%200_000
	return bytes.Repeat([]byte(key), n/len(key)+1)
}

// write creates objects, some in new directories, and deletes some.
func (p *powered) write(ctx context.Context, b objstore.Bucket) {
	for ctx.Err() == nil {
		p.mu.Lock()
		p.next++
		key := fmt.Sprintf("shop/v%d/db/main/%d", rand.IntN(1+p.next/20), p.next)
		var old string
		for k := range p.acked {
			if rand.IntN(12) == 0 {
				old = k
				delete(p.acked, k)
			}
			break
		}
		p.mu.Unlock()
		body := content(key)
		once, end := context.WithTimeout(ctx, 10*time.Second)
		if _, err := b.Put(once, key, bytes.NewReader(body), int64(len(body)), objstore.Condition{IfAbsent: true}); err == nil {
			p.mu.Lock()
			p.acked[key] = true
			p.mu.Unlock()
		}
		if old != "" {
			_ = b.Delete(once, old)
		}
		end()
	}
}

// check checks every object, and empties the object store.
func (p *powered) check(b objstore.Bucket) {
	p.t.Helper()
	there, err := objstore.ListAll(p.t.Context(), b, "")
	if err != nil {
		p.t.Fatal(err)
	}
	var keys []string
	for _, info := range there {
		keys = append(keys, info.Key)
		r, got, err := b.Get(p.t.Context(), info.Key, 0, -1)
		if err != nil {
			p.t.Errorf("%s, acknowledged: %v: %v", info.Key, p.acked[info.Key], err)
			continue
		}
		data, err := io.ReadAll(r)
		_ = r.Close()
		if err != nil || !bytes.Equal(data, content(info.Key)) || got.ETag == "" {
			p.t.Errorf("%s, acknowledged: %v: %d bytes of %d are wrong, %d zeros, etag %q, %v",
				info.Key, p.acked[info.Key], len(data), len(content(info.Key)), bytes.Count(data, []byte{0}), got.ETag, err)
		}
		if p.acked[info.Key] {
			p.kept++
			delete(p.acked, info.Key)
		} else {
			p.more++
		}
	}
	for key := range p.acked {
		p.t.Errorf("%s was acknowledged and is missing", key)
	}
	p.acked = map[string]bool{}
	if err := b.Delete(p.t.Context(), keys...); err != nil {
		p.t.Fatal(err)
	}
}

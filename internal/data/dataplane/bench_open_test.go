package dataplane_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// openerRole is the role of a process that opens one version. A worker host is a separate process
// too, and a child must not read its parent's files in the parent's process.
const openerRole = "opener"

// opening is the input of the process, opened its output.
type opening struct {
	Store           storePlace
	Dir             string
	Latency         time.Duration
	Version, Parent string
	Warm            string
	Rows            int
	Archive         bool   // afterwards
	Profile         string // a file
}

type opened struct {
	MS, Requests, PutBytes, GotBytes float64
	Warm                             bool
	Error                            string
}

// storePlace is the address of the embedded object store.
type storePlace struct{ Endpoint, AccessKey, SecretKey, Prefix string }

// runOpener is the process of openerRole.
func runOpener(ctx context.Context, _ []string) error {
	var o opening
	var r opened
	err := gob.NewDecoder(os.Stdin).Decode(&o)
	if err == nil {
		r, err = o.run(ctx)
	}
	if err != nil {
		r.Error = err.Error()
	}
	return errors.Join(err, gob.NewEncoder(os.Stdout).Encode(r))
}

func (o opening) run(ctx context.Context) (r opened, err error) {
	store, err := s3.New(s3.Config{Endpoint: o.Store.Endpoint, AccessKey: o.Store.AccessKey, SecretKey: svc.Secret(o.Store.SecretKey)})
	if err != nil {
		return r, err
	}
	s := newSite(o.Dir, store.Bucket(s3test.BucketName(), o.Store.Prefix), o.Latency)
	defer o.profiled()()
	began := time.Now()
	v, err := o.firstQuery(ctx, s)
	if err != nil {
		return r, err
	}
	r = opened{
		MS: float64(time.Since(began)) / float64(time.Millisecond), Requests: s.requests(), PutBytes: s.putBytes(),
		GotBytes: float64(s.bucket.GotBytes.Load()), Warm: v.Warm(),
	}
	if o.Archive {
		return r, v.Archive(ctx)
	}
	return r, v.Close()
}

// firstQuery opens the version and reads one row, by an index.
func (o opening) firstQuery(ctx context.Context, s *site) (*dataplane.Volumes, error) {
	c, err := s.config(o.Version, o.Parent)
	if err != nil {
		return nil, err
	}
	c.Warm = o.Warm
	v, err := dataplane.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	st, err := v.Database(ctx, storeName)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	err = st.Read(ctx, func(c *raw.Conn) error {
		return c.Query("SELECT length(v) FROM t WHERE k = ?", []any{fmt.Sprint("key-", o.Rows/2)}, func(s *raw.Stmt) error {
			size = s.Int64(0)
			return nil
		})
	})
	if err == nil && size != rowBytes {
		err = fmt.Errorf("the row has %d bytes", size)
	}
	return v, err
}

func (o opening) profiled() (end func()) {
	if o.Profile == "" {
		return func() {}
	}
	f, err := os.Create(o.Profile)
	if err != nil || pprof.StartCPUProfile(f) != nil {
		return func() {}
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }
}

// start opens a version in a process, without measuring the start of the process.
func (f *family) start(b *testing.B, p *parent, m figures, o opening) {
	b.Helper()
	o.Store, o.Latency, o.Rows = f.store, f.site.bucket.Latency, p.rows
	o.Dir = b.TempDir()
	if *profile != "" {
		o.Profile = filepath.Join(*profile, strings.ReplaceAll(b.Name(), "/", "-")+"-"+p.name+".pprof")
	}
	var in bytes.Buffer
	try(b, gob.NewEncoder(&in).Encode(o))
	line := svctest.Command(openerRole)
	cmd := osexec.CommandContext(b.Context(), line[0], line[1:]...)
	cmd.Stdin = &in
	out, err := cmd.Output()
	var r opened
	if decodeErr := gob.NewDecoder(bytes.NewReader(out)).Decode(&r); decodeErr != nil || r.Error != "" {
		b.Fatal(err, decodeErr, r.Error)
	}
	try(b, err)
	if r.Warm != (o.Warm != "") {
		try(b, errors.New("warm where it should be cold, or cold where it should be warm"))
	}
	m.add("ms/"+p.name, r.MS)
	m.add("requests/"+p.name, r.Requests)
	m.add("put-B/"+p.name, r.PutBytes)
	m.add("got-B/"+p.name, r.GotBytes)
	try(b, os.RemoveAll(o.Dir))
}

// firstQuery opens a child of a live parent, with no local files or with the parent's.
func (f *family) firstQuery(b *testing.B, warm bool) {
	b.Helper()
	f.measure(b, func(p *parent, m figures) {
		offer, child := f.fork(b, p)
		if warm {
			f.start(b, p, m, opening{Version: child, Parent: p.version, Warm: offer})
			return
		}
		decline(b, offer)
		f.start(b, p, m, opening{Version: child, Parent: p.version})
	})
}

// firstQueryArchived opens a child of an archived parent.
func (f *family) firstQueryArchived(b *testing.B) {
	f.measure(b, func(p *parent, m figures) {
		f.start(b, p, m, opening{Version: f.forkStored(b, p), Parent: p.version})
	})
}

// wake opens an archived version without local files.
func (f *family) wake(b *testing.B) {
	f.measure(b, func(p *parent, m figures) {
		f.start(b, p, m, opening{Version: p.version, Archive: true})
	})
}

// decline deletes a parent's offer.
func decline(b *testing.B, offer string) {
	b.Helper()
	var o struct {
		File string `json:"file"`
	}
	if offer == "" {
		return
	}
	try(b, json.Unmarshal([]byte(offer), &o))
	try(b, os.Remove(o.File))
}

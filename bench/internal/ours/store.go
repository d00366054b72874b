package ours

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/svc"
)

// Store is the store that ships with the program, in a process of its own, and a
// proxy before it that adds latency and counts. To a daemon it is an external one.
type Store struct {
	proxy  *s3fault.Proxy
	keys   keys
	direct string // endpoint without the proxy
	stop   func()
	data   atomic.Int64 // requests, without those of host leases
}

type keys struct {
	AccessKey string     `json:"access_key"`
	SecretKey svc.Secret `json:"secret_key"`
}

// Buckets of a daemon that has a Store.
const artifacts, runtime = "bench-artifacts", "bench-runtime"

// Store starts one.
func (p *Program) Store(ctx context.Context) (*Store, error) {
	d, err := p.Start(ctx) // for its embedded store only
	if err != nil {
		return nil, err
	}
	s := &Store{direct: d.note.S3, stop: d.Stop}
	if s.keys, err = d.keys(); err == nil {
		s.proxy, err = s3fault.New(d.note.S3)
	}
	if err != nil {
		d.Stop()
		return nil, err
	}
	s.Latency(0)
	return s, nil
}

// storage returns the settings that a runtime host receives for the store, as a daemon
// sends them.
func (s *Store) storage() svc.Storage {
	place := svc.Place{Bucket: "svc-runtime"}
	return svc.Storage{
		Endpoint: s.direct, Region: "us-east-1", AccessKey: s.keys.AccessKey, SecretKey: s.keys.SecretKey.Reveal(),
		Data: place, Manifests: place, Owner: svc.Owner{Node: "bench", Session: "bench"}, Window: time.Second, Grace: time.Hour,
	}
}

// Stop ends it. Its daemons end before.
func (s *Store) Stop() {
	s.proxy.Close()
	s.stop()
}

// Latency is what each request takes more from now on.
func (s *Store) Latency(d time.Duration) {
	s.proxy.Set(s3fault.Faults{Latency: d, Match: func(r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/hosts/") {
			s.data.Add(1)
		}
		return false // no faults
	}})
}

// Requests is how many there were, without the renewals of hosts' leases.
func (s *Store) Requests() int64 { return s.data.Load() }

// Written is how many bytes were written.
func (s *Store) Written() int64 { return s.proxy.Counts().Up }

// StartOn starts a daemon whose object store it is.
func (p *Program) StartOn(ctx context.Context, s *Store) (*Daemon, error) {
	d, err := p.start(ctx, "S3_ENDPOINT="+s.proxy.Endpoint(), "S3_ACCESS_KEY_ID="+s.keys.AccessKey,
		"S3_SECRET_ACCESS_KEY="+s.keys.SecretKey.Reveal(), "SVC_ARTIFACTS_BUCKET="+artifacts, "RUNTIME_BUCKET="+runtime, "SVC_GC_EVERY=1d")
	if err != nil {
		return nil, err
	}
	d.store = s
	return d, nil
}

// keys are those of the daemon's own store.
func (d *Daemon) keys() (k keys, err error) {
	data, err := os.ReadFile(filepath.Join(d.dir, "object-store/keys.json"))
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	return k, err
}

// bundles is where bundles are uploaded to, not through a proxy.
func (d *Daemon) bundles() (*s3.Bucket, error) {
	if s := d.store; s != nil {
		return bucket(s.direct, s.keys, artifacts)
	}
	k, err := d.keys()
	if err != nil {
		return nil, err
	}
	return bucket(d.note.S3, k, "svc-artifacts")
}

func bucket(endpoint string, k keys, name string) (*s3.Bucket, error) {
	store, err := s3.New(s3.Config{Endpoint: endpoint, AccessKey: k.AccessKey, SecretKey: k.SecretKey})
	if err != nil {
		return nil, err
	}
	return store.Bucket(name, ""), nil
}

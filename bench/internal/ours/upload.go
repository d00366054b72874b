package ours

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/s3"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// Uploads is a project whose bundles are uploaded before their versions exist,
// as a pipeline does that has the keys of the store.
type Uploads struct {
	daemon *Daemon
	bucket *s3.Bucket
	bundle string // path
	name   string // of the project
}

// Uploads makes the project and the bundle of a fixture.
func (d *Daemon) Uploads(ctx context.Context, fixture string) (*Uploads, error) {
	u := &Uploads{daemon: d, name: "bench-" + fixture, bundle: filepath.Join(d.dir, fixture+".tar.zst")}
	if err := d.run(ctx, "bundle", filepath.Join(d.program.Root, "fixtures", fixture), "--outfile", u.bundle); err != nil {
		return nil, err
	}
	if _, err := d.Client.CreateProject(ctx, api.CreateProject{ID: u.name}); err != nil {
		return nil, err
	}
	var keys struct {
		AccessKey string     `json:"access_key"`
		SecretKey svc.Secret `json:"secret_key"`
	}
	data, err := os.ReadFile(filepath.Join(d.dir, "object-store/keys.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &keys); err != nil {
		return nil, err
	}
	store, err := s3.New(s3.Config{Endpoint: d.note.S3, AccessKey: keys.AccessKey, SecretKey: keys.SecretKey})
	if err != nil {
		return nil, err
	}
	u.bucket = store.Bucket("svc-artifacts", "")
	return u, nil
}

// Deploy uploads the bundle of a version and then measures from the request
// that creates the version to the client library's word that it is ready.
func (u *Uploads) Deploy(ctx context.Context, version string) (time.Duration, error) {
	file, err := os.Open(u.bundle)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	key := u.name + "/" + version + "/bundle.tar.zst"
	if _, err := u.bucket.Put(ctx, key, file, info.Size(), objstore.Condition{}); err != nil {
		return 0, fmt.Errorf("uploading: %w", err)
	}
	began := time.Now()
	if _, err := u.daemon.Client.CreateVersion(ctx, u.name, api.CreateVersion{ID: version}, ""); err != nil {
		return 0, err
	}
	_, err = u.daemon.Client.Wait(ctx, u.name, version, nil)
	return time.Since(began), err
}

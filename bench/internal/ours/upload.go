package ours

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3"
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
	err := d.run(ctx, "bundle", filepath.Join(d.program.Root, "fixtures", fixture), "--outfile", u.bundle)
	if err != nil {
		return nil, err
	}
	if _, err := d.Client.CreateProject(ctx, api.CreateProject{ID: u.name}); err != nil {
		return nil, err
	}
	if u.bucket, err = d.bundles(); err != nil {
		return nil, err
	}
	return u, nil
}

// Deploy uploads the bundle of a version and then measures from the request
// that creates the version to the client library's word that it is ready.
func (u *Uploads) Deploy(ctx context.Context, version string) (time.Duration, error) {
	if err := u.Upload(ctx, version); err != nil {
		return 0, err
	}
	began := time.Now()
	_, err := u.Create(ctx, version, "")
	return time.Since(began), err
}

// Upload uploads the bundle of a version.
func (u *Uploads) Upload(ctx context.Context, version string) error {
	file, err := os.Open(u.bundle)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if _, err := u.bucket.Put(ctx, u.name+"/"+version+"/bundle.tar.zst", file, info.Size(), objstore.Condition{}); err != nil {
		return fmt.Errorf("uploading: %w", err)
	}
	return nil
}

// Create creates a version that is uploaded, a child if it has a parent, and
// waits until it is ready.
func (u *Uploads) Create(ctx context.Context, version, parent string) (api.Version, error) {
	c := api.CreateVersion{ID: version}
	if parent != "" {
		c.ParentVersionID = &parent
	}
	if _, err := u.daemon.Client.CreateVersion(ctx, u.name, c, ""); err != nil {
		return api.Version{}, err
	}
	return u.daemon.Client.Wait(ctx, u.name, version, nil)
}

// Project is its id.
func (u *Uploads) Project() string { return u.name }

// Preview is the host of a version.
func (u *Uploads) Preview(v api.Version) (load.Target, error) {
	preview, err := url.Parse(v.PreviewURL)
	if err != nil {
		return load.Target{}, err
	}
	return u.daemon.Host(preview.Hostname())
}

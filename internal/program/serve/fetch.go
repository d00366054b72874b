package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// fetcher reads bundles from the object store.
type fetcher struct {
	dir  string
	sync bool // bundles outlive the process
}

// unpack is agent.Config.Unpack.
func (f fetcher) unpack(ctx context.Context, st svc.Storage, ref svc.Ref, digest, dir string) error {
	store, err := s3.New(s3.Config{Endpoint: st.Endpoint, Region: st.Region, AccessKey: st.AccessKey, SecretKey: svc.Secret(st.SecretKey)})
	if err != nil {
		return err
	}
	bucket := store.Bucket(st.Artifacts.Bucket, st.Artifacts.Prefix)
	file := dir + ".bundle"
	defer os.Remove(file)
	if err := download(ctx, bucket, ref, digest, file); err != nil {
		return err
	}
	assets := assetstore.New(assetstore.Config{Bucket: bucket, Dir: filepath.Join(f.dir, "assets")}) // the daemon has checked the limits
	extract := bundle.ExtractNoSync
	if f.sync {
		extract = bundle.ExtractWith
	}
	m, err := extract(ctx, file, dir, bundle.Limits{}, func(ctx context.Context, m bundle.Manifest, dir string) error {
		return assets.Fill(ctx, ref, m, dir)
	})
	if err != nil || m.Assets == nil {
		return err
	}
	return assets.FillKept(ctx, ref, dir)
}

// download saves the object of a bundle that has the digest.
func download(ctx context.Context, bucket objstore.Bucket, ref svc.Ref, digest, file string) error {
	for _, key := range bundle.Keys(ref) {
		body, _, err := bucket.Get(ctx, key, 0, -1)
		if errors.Is(err, objstore.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading the bundle: %w", err)
		}
		defer body.Close()
		return save(body, digest, file)
	}
	return errors.New("the object store does not have the bundle")
}

func save(body io.Reader, digest, file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, hash), body)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("saving the bundle: %w", err)
	}
	if got := "sha256:" + hex.EncodeToString(hash.Sum(nil)); got != digest {
		return fmt.Errorf("the object store has a bundle with the digest %s, want %s", got, digest)
	}
	return nil
}

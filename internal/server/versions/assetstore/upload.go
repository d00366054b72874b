package assetstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// inMemory is the size in bytes up to which files are stored concurrently.
const inMemory = 256 << 10

// Announce records the assets of a version and returns the hashes of those that the
// object store lacks, in order. The first list of a version is final.
//
// Errors: Unprocessable or TooLarge for the list, naming a file; Conflict,
// assets_announced, for another list than before; Unavailable, upload_failed.
func (s *Store) Announce(ctx context.Context, ref svc.Ref, files []bundle.File) ([]string, error) {
	if err := bundle.CheckAssets(files, s.cfg.Limits); err != nil {
		return nil, err
	}
	want, err := sizesOf(files)
	if err != nil {
		return nil, err
	}
	ctx, unlock, err := s.locks.Lock(ctx, ref.Project)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.ask(ctx, ref, want); err != nil {
		return nil, err
	}
	var differs error
	err = s.stored(ctx, ref.Project, func(info objstore.Info, hash string) {
		if size, ok := want[hash]; ok && size != info.Size {
			differs = wrong("the asset with the hash %s has %d bytes, not %d", hash, info.Size, size)
		}
		delete(want, hash)
	})
	if err != nil {
		return nil, failed(err)
	}
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(want)))), differs
}

// ask stores the list of an announcement, or compares it with the one that is stored.
func (s *Store) ask(ctx context.Context, ref svc.Ref, want sizes) error {
	text := want.encode()
	_, err := s.cfg.Bucket.Put(ctx, askedKey(ref), strings.NewReader(text), int64(len(text)), objstore.Condition{IfAbsent: true})
	if !errors.Is(err, objstore.ErrPrecondition) {
		return failed(err)
	}
	before, err := s.read(ctx, askedKey(ref))
	if err != nil {
		return failed(err)
	}
	if !maps.Equal(before, want) {
		return svc.Errorf(svc.Conflict, svc.CodeAssetsAnnounced, "other assets were announced for %s before", ref).
			WithHint("create another version to deploy other assets")
	}
	return nil
}

func failed(err error) error {
	if err == nil {
		return nil
	}
	return svc.Errorf(svc.Unavailable, svc.CodeUploadFailed, "the assets could not be stored").WithHint("upload them again").Because(err)
}

// Accept stores the files of an archive, which the version has announced. Files before a
// failure stay stored, so that a repetition sends the rest.
//
// Errors: Unprocessable, asset_mismatch, for a file that is not announced or has another
// size or hash; those of an archive that cannot be read; Unavailable, upload_failed.
func (s *Store) Accept(ctx context.Context, ref svc.Ref, archive io.Reader) (svc.AssetsReceipt, error) {
	list, err := s.read(ctx, askedKey(ref))
	if err != nil {
		return svc.AssetsReceipt{}, failed(err)
	}
	var receipt svc.AssetsReceipt
	puts, own := errgroup.WithContext(ctx)
	puts.SetLimit(parallel)
	err = bundle.ReadAssets(own, archive, s.cfg.Limits, func(f bundle.File, body io.Reader) error {
		if size, ok := list[f.SHA256]; !ok || size != f.Size {
			return wrong("the asset %q with %d bytes and the hash %s was not announced", f.Path, f.Size, f.SHA256)
		}
		receipt.Files, receipt.Bytes = receipt.Files+1, receipt.Bytes+f.Size
		return s.take(own, puts, ref.Project, f, body)
	})
	if stored := puts.Wait(); stored != nil { // it ended the reading
		err = stored
	}
	if err != nil {
		return svc.AssetsReceipt{}, err
	}
	return receipt, nil
}

// take stores one file: a small one in puts, so that the next is read meanwhile.
func (s *Store) take(ctx context.Context, puts *errgroup.Group, project string, f bundle.File, body io.Reader) error {
	checked := &checked{r: body, sum: sha256.New(), want: f}
	if f.Size > inMemory {
		return s.put(ctx, project, f, checked)
	}
	data, err := io.ReadAll(checked)
	if err != nil {
		return err
	}
	puts.Go(func() error { return s.put(ctx, project, f, bytes.NewReader(data)) })
	return nil
}

func (s *Store) put(ctx context.Context, project string, f bundle.File, body io.Reader) error {
	_, err := s.cfg.Bucket.Put(ctx, fileKey(project, f.SHA256), body, f.Size, objstore.Condition{})
	if c, ok := body.(*checked); ok && c.err != nil { // of the archive
		return c.err
	}
	return failed(err)
}

// checked fails at the end of content that has not the size or hash of want. err is the
// failure.
type checked struct {
	r    io.Reader
	sum  hash.Hash
	n    int64
	want bundle.File
	err  error
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		err = c.end()
	} else if err != nil {
		c.err = err
	}
	return n, err
}

func (c *checked) end() error {
	if got := hex.EncodeToString(c.sum.Sum(nil)); got != c.want.SHA256 || c.n != c.want.Size {
		c.err = wrong("the asset %q has %d bytes and the sha256 %s, not %d bytes and %s", c.want.Path, c.n, got, c.want.Size, c.want.SHA256).
			WithHint("the file may have changed while it was uploaded: deploy again")
		return c.err
	}
	return io.EOF
}

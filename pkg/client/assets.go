package client

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/svcctl/svcctl/pkg/api"
)

// Asset is a static file of a version whose bundle leaves it out.
type Asset struct {
	api.BundleFile
	Open func() (io.ReadCloser, error) // called once for each time that the file is sent
}

// The limits of one request with assets: what a lost connection costs to send again.
const (
	batchBytes = 16 << 20
	batchFiles = 1000
)

// MissingAssets announces all assets of a version and returns those that the server lacks,
// one for each content. A version has one list: a repeated call needs the same. to is the
// address that [Client.CreateVersion] returned; no token is sent.
//
// Codes: assets_announced, asset_mismatch, bundle_too_large, already_uploaded, upload_expired, upload_invalid,
// upload_failed, version_not_found, version_destroyed, version_failed.
func (c *Client) MissingAssets(ctx context.Context, to api.Upload, all []Asset) ([]Asset, error) {
	ask := api.AnnounceAssets{Files: make([]api.BundleFile, len(all))}
	for i, a := range all {
		ask.Files[i] = a.BundleFile
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, err
	}
	answer, err := as[api.MissingAssets](c.toAssets(ctx, to, http.MethodPost, "application/json", bytes.NewReader(body)))
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool, len(answer.Missing))
	for _, hash := range answer.Missing {
		wanted[hash] = true
	}
	var missing []Asset
	for _, a := range all {
		if wanted[a.SHA256] {
			missing = append(missing, a)
			delete(wanted, a.SHA256)
		}
	}
	return missing, nil
}

// UploadAssets sends assets that [Client.MissingAssets] returned, in requests of some
// megabytes. progress is called with the bytes of files that were sent; it may be nil.
// After an error MissingAssets tells what is left. ctx is the only time limit.
//
// Codes: asset_mismatch (a file has changed), already_uploaded, bundle_too_large, upload_expired, upload_invalid, upload_failed,
// version_not_found, version_destroyed, version_failed.
func (c *Client) UploadAssets(ctx context.Context, to api.Upload, files []Asset, progress func(sent int64)) error {
	var done int64
	for len(files) > 0 {
		var size int64
		n := 0
		for n < len(files) && n < batchFiles && (n == 0 || size+files[n].SizeBytes <= batchBytes) {
			size += files[n].SizeBytes
			n++
		}
		before := done
		limited, over := untilOver(progress)
		err := c.sendAssets(ctx, to, files[:n], func(sent int64) { limited(before + sent) })
		over()
		if err != nil {
			return err
		}
		done, files = done+size, files[n:]
	}
	return nil
}

// sendAssets sends one archive, made while it is sent.
func (c *Client) sendAssets(ctx context.Context, to api.Upload, files []Asset, progress func(int64)) error {
	from, into := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := packAssets(into, files, progress)
		_ = into.CloseWithError(err) // as below
		packed <- err
	}()
	_, err := c.toAssets(ctx, to, http.MethodPut, "application/octet-stream", from)
	_ = from.CloseWithError(errAnswered) // it has no error
	if local := <-packed; local != nil && !errors.Is(local, errAnswered) && !errors.Is(local, io.ErrClosedPipe) {
		return local
	}
	return err
}

// errAnswered ends an archive whose request has an answer.
var errAnswered = errors.New("the request has ended")

func (c *Client) toAssets(ctx context.Context, to api.Upload, method, kind string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.reachable(to.AssetsURL), body)
	if err != nil {
		return nil, fmt.Errorf("the upload address is no URL: %w", err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", c.agent)
	return read(c.uploads.Do(req))
}

// packAssets writes the files as a tar.gz, named by their hashes.
func packAssets(w io.Writer, files []Asset, progress func(int64)) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	var sent int64
	for _, f := range files {
		if err := packAsset(archive, f, &counter{progress: func(n int64) { progress(sent + n) }}); err != nil {
			return err
		}
		sent += f.SizeBytes
	}
	return errors.Join(archive.Close(), compressed.Close())
}

func packAsset(archive *tar.Writer, f Asset, count *counter) error {
	src, err := f.Open()
	if err != nil {
		return fmt.Errorf("reading an asset: %w", err)
	}
	defer src.Close()
	count.next = src
	header := &tar.Header{Typeflag: tar.TypeReg, Name: f.SHA256 + "/" + f.Path, Size: f.SizeBytes, Mode: 0o644, Format: tar.FormatPAX}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	n, err := io.Copy(archive, count)
	if errors.Is(err, tar.ErrWriteTooLong) || err == nil && n != f.SizeBytes {
		return fmt.Errorf("the asset %s has changed while it was uploaded", f.Path)
	}
	return err
}

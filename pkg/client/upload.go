package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/svcctl/svcctl/pkg/api"
)

// Upload sends a bundle, read from its start, to the address that
// [Client.CreateVersion] returned. The address is the credential: no token is
// sent. progress is called with the bytes sent so far; it may be nil. ctx is the
// only time limit.
//
// Codes: already_uploaded, upload_expired, upload_invalid, upload_failed,
// bundle_too_large, version_not_found, version_destroyed. If the address is that
// of an external object store, its refusals have no code.
func (c *Client) Upload(ctx context.Context, to api.Upload, bundle io.ReadSeeker, progress func(sent int64)) error {
	size, err := bundle.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = bundle.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("reading the bundle: %w", err)
	}
	// Hidden from net/http, which would close a file after sending it.
	body := io.Reader(&counter{next: bundle, progress: progress})
	if size == 0 {
		body = http.NoBody
	}
	req, err := http.NewRequestWithContext(ctx, to.Method, c.reachable(to.URL), body)
	if err != nil {
		return fmt.Errorf("the upload address is no URL: %w", err)
	}
	req.ContentLength = size
	for name, value := range to.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("User-Agent", c.agent)
	_, err = read(c.uploads.Do(req))
	return err
}

// reachable is an upload address of the server's own API, as this client reaches
// the server: a proxy between them may have changed the Host header that the server
// made the address of. A presigned address of an object store, which has a query,
// is unchanged.
func (c *Client) reachable(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.RawQuery != "" || !strings.HasPrefix(u.Path, "/v1/uploads/") {
		return address
	}
	return c.server + u.EscapedPath()
}

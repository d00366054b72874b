package client

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/svcctl/svcctl/pkg/api"
)

// Upload sends a bundle, read from its start, to the address that
// create-version handed out [D11]. progress (nil for none) is called with the
// bytes sent so far. The address is the credential: no token is sent. Upload
// does not try again.
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
	req, err := http.NewRequestWithContext(ctx, to.Method, to.URL, body)
	if err != nil {
		return fmt.Errorf("the upload address is no URL: %w", err)
	}
	req.ContentLength = size
	for name, value := range to.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("User-Agent", c.agent)
	resp, err := c.uploads.Do(req)
	_, err = read(resp, err)
	return err
}

// counter reports how many bytes were read through it.
type counter struct {
	next     io.Reader
	sent     int64
	progress func(int64)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.next.Read(p)
	c.sent += int64(n)
	if c.progress != nil && n > 0 {
		c.progress(c.sent)
	}
	return n, err
}

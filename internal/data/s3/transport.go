package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// dial returns the endpoint that the SDK signs for and the transport that reaches it.
func dial(endpoint string) (string, *http.Transport, error) {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
	var d net.Dialer
	if path, ok := strings.CutPrefix(endpoint, "unix:"); ok {
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, "unix", path)
		}
		return "http://object-store.internal", transport, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", nil, fmt.Errorf("S3 endpoint %q is not an http or https URL", endpoint)
	}
	return strings.TrimSuffix(endpoint, "/"), transport, nil
}

// seekable makes body something that the SDK can hash, send and send again, and
// finds its length. done deletes the temporary file, if any.
func seekable(body io.Reader, size int64) (rs io.ReadSeeker, length int64, done func(), err error) { //nolint:revive // four results that belong together
	done = func() {}
	rs, ok := body.(io.ReadSeeker)
	if !ok {
		if rs, done, err = spool(body); err != nil {
			return nil, 0, done, err
		}
	}
	if length, err = remaining(rs); err == nil && size >= 0 && length != size {
		err = fmt.Errorf("body has %d bytes, want %d", length, size)
	}
	if err != nil {
		done()
		return nil, 0, func() {}, err
	}
	return rs, length, done, nil
}

// remaining is how many bytes are left to read.
func remaining(rs io.Seeker) (int64, error) {
	at, err := rs.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	end, err := rs.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	_, err = rs.Seek(at, io.SeekStart)
	return end - at, err
}

func spool(body io.Reader) (*os.File, func(), error) {
	f, err := os.CreateTemp("", "svc-put-*")
	if err != nil {
		return nil, func() {}, err
	}
	done := func() { _ = errors.Join(f.Close(), os.Remove(f.Name())) }
	if _, err = io.Copy(f, body); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		done()
		return nil, func() {}, err
	}
	return f, done, nil
}

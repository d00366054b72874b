package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/pkg/api"
)

const maxAnswer = 64 << 20 // bytes of one answer that are read

// do sends a request and returns its response.
func (c *Client) do(ctx context.Context, r request) (*http.Response, error) {
	req, err := r.build(ctx, c.server)
	if err != nil {
		return nil, err
	}
	c.identify(req)
	if r.edit != nil {
		r.edit(req)
	}
	if r.slow {
		return c.slow.Do(req)
	}
	return c.quick.Do(req)
}

// ask sends a request and decodes the JSON of the response.
func ask[T any](ctx context.Context, c *Client, r request) (T, error) {
	return as[T](read(c.do(ctx, r)))
}

// stream sends a request whose response is read while it comes. The caller closes its body.
func (c *Client) stream(ctx context.Context, r request) (*http.Response, error) {
	resp, err := c.do(ctx, r.untimed())
	if err == nil && resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	if _, err = read(resp, err); err == nil {
		err = unexpected(errors.New("the status is " + resp.Status))
	}
	return nil, err
}

// read returns the body of a successful response: a 2xx, or a status of
// alsoWell. It closes the response. err is that of the request.
func read(resp *http.Response, err error, alsoWell ...int) ([]byte, error) {
	if err != nil {
		return nil, transportError(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, transportError(err)
	}
	isProblem := strings.HasPrefix(resp.Header.Get("Content-Type"), api.ProblemContentType)
	if ok := resp.StatusCode/100 == 2 || slices.Contains(alsoWell, resp.StatusCode); !ok || isProblem || fromGateway(resp) {
		return nil, refusal(resp, body)
	}
	return body, nil
}

// as decodes the JSON of a response.
func as[T any](body []byte, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, unexpected(err)
	}
	return v, nil
}

// unexpected is the error of a successful response that does not parse.
func unexpected(err error) error {
	return fmt.Errorf("the answer is not what the API promises: %w", err)
}

// transportError adds ErrUnreachable to the error of a request that got no
// response, unless the caller's context ended it.
func transportError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !isTimeout(err) {
		return err
	}
	if _, refused := errors.AsType[*tls.CertificateVerificationError](err); refused {
		return fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return ErrScheme
	}
	return unreachable(err)
}

// isTimeout reports whether the time limit of the http.Client ended the request.
// net/http says so only in the text of its error.
func isTimeout(err error) bool {
	return strings.Contains(err.Error(), "Client.Timeout")
}

// or returns nil for the zero value: the optional parameter is left out.
func or[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

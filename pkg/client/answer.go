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

// read returns the body of a successful response: a 2xx, or a status of
// alsoWell. It closes the response. err is the error of the generated call.
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

package client_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// timedOut is the error of a request that reached the limit of its http.Client.
type timedOut struct{}

func (timedOut) Error() string { return "context deadline exceeded (Client.Timeout exceeded)" }
func (timedOut) Timeout() bool { return true }

// A request without an answer names the server and the reason, without the query of the
// request and the steps of the network.
func TestUnreachableText(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for reason, err := range map[string]error{
		"connection refused":                     dial,
		"lookup nowhere: no such host":           &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "nowhere"}},
		"the connection ended before the answer": io.EOF,
		"the time limit of the request passed":   timedOut{},
	} {
		c := connect(t, "http://127.0.0.1:1", client.Options{HTTP: &http.Client{Transport: failing{err}}})
		_, got := c.CreateProject(t.Context(), api.CreateProject{ID: "shop"})
		if want := "the service does not answer at http://127.0.0.1:1: " + reason; got == nil || got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
		if !errors.Is(got, client.ErrUnreachable) || !errors.Is(got, err) {
			t.Errorf("%v hides its causes", got)
		}
	}
}

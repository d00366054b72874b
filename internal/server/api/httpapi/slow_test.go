package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// stalled is a connection whose client stops in the middle of a body.
type stalled struct {
	*httptest.ResponseRecorder

	deadline time.Time
	limited  bool
}

func (c *stalled) SetReadDeadline(at time.Time) error {
	c.deadline, c.limited = at, c.limited || !at.IsZero()
	return nil
}

// Read returns only at the deadline.
func (c *stalled) Read([]byte) (int, error) {
	if c.deadline.IsZero() {
		return 0, io.ErrNoProgress
	}
	return 0, os.ErrDeadlineExceeded
}

func TestSlowBody(t *testing.T) {
	t.Parallel()
	c := &stalled{ResponseRecorder: httptest.NewRecorder()}
	err := ruleOf("POST /v1/projects").readBody(c, httptest.NewRequest(http.MethodPost, "/v1/projects", c))
	if svc.CodeOf(err) != "body_incomplete" || !c.limited {
		t.Errorf("%v, limited %v", err, c.limited)
	}
	if !c.deadline.IsZero() {
		t.Error("the limit of the body applies to the response too")
	}
}

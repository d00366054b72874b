package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// stalling is a service that says nothing about calls whose path does not end with one of these.
type stalling struct {
	answers []string
	after   time.Duration // answers to the others come then; 0 for never
}

func (s stalling) RoundTrip(req *http.Request) (*http.Response, error) {
	late := make(<-chan time.Time)
	if s.after > 0 {
		late = time.After(s.after)
	}
	for _, path := range s.answers {
		if strings.HasSuffix(req.URL.Path, path) {
			late = time.After(0)
		}
	}
	select {
	case <-late:
		header := http.Header{"Content-Type": {"application/json"}}
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// A service that accepts calls and says nothing is noticed after two seconds, and the call ends
// after ten. A call that may take its time continues while the service answers other questions.
func TestSilence(t *testing.T) {
	t.Parallel()
	list := func(ctx context.Context, c *client.Client) error {
		_, err := c.Projects(ctx, client.Page{})
		return err
	}
	query := func(ctx context.Context, c *client.Client) error {
		_, err := c.Query(ctx, "shop", "v1", api.DatabaseQuery{SQL: "SELECT 1"})
		return err
	}
	archive := func(ctx context.Context, c *client.Client) error { _, err := c.Archive(ctx, "shop", "v1"); return err }
	plan := func(ctx context.Context, c *client.Client) error {
		_, err := c.PromotionPlan(ctx, "shop", "v1")
		return err
	}
	for name, tc := range map[string]struct {
		s      stalling
		call   func(context.Context, *client.Client) error
		notice bool
		took   time.Duration
		fails  bool
	}{
		"a record":                     {stalling{}, list, true, 10 * time.Second, true},
		"a record, and health is well": {stalling{answers: []string{"/v1/health"}}, list, true, 10 * time.Second, true},
		"a record that comes late":     {stalling{after: 4 * time.Second}, list, true, 4 * time.Second, false},
		"a record that comes in time":  {stalling{after: 1900 * time.Millisecond}, list, false, 1900 * time.Millisecond, false},
		"a query":                      {stalling{}, query, true, 10 * time.Second, true},
		"a long query":                 {stalling{answers: []string{"/v1/health"}, after: 40 * time.Second}, query, false, 40 * time.Second, false},
		"a long plan":                  {stalling{answers: []string{"/v1/health"}, after: 40 * time.Second}, plan, false, 40 * time.Second, false},
		"an archive":                   {stalling{}, archive, true, 10 * time.Second, true},
		"a long archive":               {stalling{answers: []string{"/v1/health"}, after: 20 * time.Minute}, archive, false, 20 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var notices []time.Duration
				c := connect(t, "http://service", client.Options{
					HTTP:   &http.Client{Timeout: time.Minute, Transport: tc.s},
					Silent: func(d time.Duration) { notices = append(notices, d) },
				})
				began := time.Now()
				err := tc.call(t.Context(), c)
				if took := time.Since(began).Round(100 * time.Millisecond); took != tc.took || (err != nil) != tc.fails {
					t.Errorf("%v after %v, want an end after %v", err, took, tc.took)
				}
				if (len(notices) > 0) != tc.notice || len(notices) > 1 || tc.notice && notices[0].Round(time.Second) != 2*time.Second {
					t.Errorf("notices %v", notices)
				}
				if want := "the service does not answer at http://service: no answer for 10s"; tc.fails && (err == nil || err.Error() != want || !errors.Is(err, client.ErrUnreachable)) {
					t.Errorf("%v, want %s", err, want)
				}
			})
		})
	}
}

package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// refused is what dialling a closed port gives.
func refused() error { return os.NewSyscallError("connect", syscall.ECONNREFUSED) }

// script answers one call after the other; the last answer stays.
type script struct {
	answers []answer
	at      []time.Time
}

type answer struct {
	status     int // 0 for a refused connection
	body       string
	retryAfter string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	a := s.answers[min(len(s.at), len(s.answers)-1)]
	s.at = append(s.at, time.Now())
	if a.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	contentType := "application/json"
	if a.status >= 400 {
		contentType = "application/problem+json"
	}
	return &http.Response{
		Status: fmt.Sprint(a.status), StatusCode: a.status, Request: r, Body: io.NopCloser(strings.NewReader(a.body)),
		Header: http.Header{"Content-Type": {contentType}, "Retry-After": {a.retryAfter}},
	}, nil
}

func status(s string) answer {
	return answer{status: 200, body: `{"id":"v-1","project_id":"shop","status":"` + s + `","error":"fetching: digest_mismatch: it differs"}`}
}

// waiter is a client that plays a script on a fake clock.
func waiter(t *testing.T, answers ...answer) (*client.Client, *script) {
	t.Helper()
	s := &script{answers: answers}
	return connect(t, "http://service", client.Options{HTTP: &http.Client{Transport: s}}), s
}

// spec: [C7.22]
func TestWaitFollowsADeploy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := waiter(t, status("pending"), status("fetching"), status("fetching"), answer{}, answer{status: 503, body: `{"code":"x"}`}, status("deploy_ready"), status("ready"))
		var seen []api.VersionStatus
		v, err := c.Wait(t.Context(), "shop", "v-1", func(v api.Version) { seen = append(seen, v.Status) })
		if err != nil || v.Status != "ready" || !slices.Equal(seen, []api.VersionStatus{"pending", "fetching", "deploy_ready", "ready"}) {
			t.Errorf("got %s, %v, saw %v", v.Status, err, seen)
		}
		if first := s.at[1].Sub(s.at[0]); first < 4*time.Millisecond || first > 6*time.Millisecond {
			t.Errorf("the second poll came after %s", first)
		}
	})
}

func TestWaitSlowsDownAndHonoursRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := waiter(t, answer{status: 429, body: `{"code":"x"}`, retryAfter: "5"}, status("deploying"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		v, err := c.Wait(ctx, "shop", "v-1", nil)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, client.ErrUnreachable) || v.Status != "deploying" {
			t.Errorf("got %v, %v", v.Status, err)
		}
		if s.at[1].Sub(s.at[0]) != 5*time.Second {
			t.Errorf("after a 429 it waited %s", s.at[1].Sub(s.at[0]))
		}
		for i := len(s.at) - 3; i < len(s.at); i++ {
			if d := s.at[i].Sub(s.at[i-1]); d < 2400*time.Millisecond || d > 3600*time.Millisecond {
				t.Errorf("late polls come every %s", d)
			}
		}
		if len(s.at) > 40 {
			t.Errorf("%d polls in a minute", len(s.at))
		}
	})
}

func TestWaitEnds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		answer answer
		check  func(error) bool
	}{
		{"failed", status("failed"), func(err error) bool {
			var e *client.VersionError
			return errors.As(err, &e) && err.Error() == "version v-1 of shop is failed: fetching: digest_mismatch: it differs"
		}},
		{"destroyed", status("destroyed"), func(err error) bool {
			var e *client.VersionError
			return errors.As(err, &e)
		}},
		{"draining", status("draining"), func(err error) bool { return err == nil }},
		{"not found", answer{status: 404, body: `{"code":"version_not_found"}`}, func(err error) bool { return client.CodeOf(err) == "version_not_found" }},
		{"away too long", answer{}, func(err error) bool { return errors.Is(err, client.ErrUnreachable) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, _ := waiter(t, status("pending"), tc.answer)
				if _, err := c.Wait(t.Context(), "shop", "v-1", nil); !tc.check(err) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestWaitPromotion(t *testing.T) {
	t.Parallel()
	promotion := func(status string) answer {
		return answer{status: 200, body: `{"operation_id":"op","project_id":"shop","version_id":"v-1","status":"` + status + `","error":"drain: timeout"}`}
	}
	synctest.Test(t, func(t *testing.T) {
		c, _ := waiter(t, promotion("running"), promotion("done"))
		if p, err := c.WaitPromotion(t.Context(), "shop", "op"); err != nil || p.Status != "done" {
			t.Errorf("got %v, %v", p, err)
		}
		c, _ = waiter(t, promotion("running"), promotion("failed"))
		_, err := c.WaitPromotion(t.Context(), "shop", "op")
		var e *client.PromotionError
		if !errors.As(err, &e) || err.Error() != "promoting v-1 of shop failed and was undone: drain: timeout" {
			t.Errorf("got %v", err)
		}
	})
}

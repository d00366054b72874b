package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// echoing is a host that accepts any event.
type echoing struct{ *host }

func (echoing) Dispatch(_ context.Context, e svc.Event) (svc.EventResult, error) {
	return svc.EventResult{Duration: e.Limit}, nil
}

// Whatever is on the line: a request is answered with JSON or an error that can be read, and
// reading any answer as an error gives one with a code, or a reason.
func FuzzLine(f *testing.F) {
	for _, seed := range [][2]string{
		{"/open", `{"Ref":{"Project":"p","Version":"v"},"Env":{"A":"b"},"CreatedAt":"2026-11-22T00:00:00Z"}`},
		{"/dispatch", `{"Scheduled":{"Cron":"x"},"Limit":5}`},
		{"/stop", `{"Grace":-1}`},
		{"/arm", "true"},
		{"/next-notice", "-9223372036854775808"},
		{"/next-notice", "9223372036854775807"},
		{"/ping", ""},
		{"/cut", "null"},
		{"/next-wake", "{}"},
		{"/nope", ""},
		{"/prepare", "["},
		{"/serve", ""},
		{"/", `{"Code":"x","Kind":-5,"Detail":"d","Err":"e","RetryAfter":9e99}`},
	} {
		f.Add(seed[0], seed[1])
	}
	over, end := context.WithCancel(f.Context())
	end() // nothing is waited for
	f.Fuzz(func(t *testing.T, path, body string) {
		r := httptest.NewRequestWithContext(over, http.MethodPost, "/", strings.NewReader(body))
		r.URL.Path, r.Host = path, "host"
		w := httptest.NewRecorder()
		control.Route(echoing{newHost()}).ServeHTTP(w, r)
		err := control.ReadError(w.Result())
		if err == nil && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q %q: %q", path, body, w.Body)
		}
		if err != nil && svc.CodeOf(err) == "" {
			t.Errorf("%q %q: an error without a code: %v", path, body, err)
		}
		forged := &http.Response{Header: w.Result().Header.Clone(), Body: http.NoBody}
		forged.Header.Set("Content-Type", "application/vnd.svcctl.error+json")
		forged.Body = httptest.NewRequestWithContext(over, http.MethodPost, "/", strings.NewReader(body)).Body
		if err := control.ReadError(forged); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%q is no error: %v", body, err)
		}
	})
}

package svc_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

func TestWatchRule(t *testing.T) {
	t.Parallel()
	few, many := svc.Traffic{Requests: 10, Errors: 10, Exceptions: 2, P95: time.Second}, svc.Traffic{Requests: 1000, Errors: 31, Exceptions: 2, P95: 600 * time.Millisecond}
	for _, test := range []struct {
		rule     string
		traffic  svc.Traffic
		exceeded bool
		detail   string
	}{
		{"errors>1%", few, false, "errors 100% > 1%"},
		{"errors>1%", many, true, "errors 3.1% > 1%"},
		{"errors > 3.1%", many, false, "errors 3.1% > 3.1%"},
		{"errors>9", few, true, "errors 10 > 9"},
		{"errors>10", few, false, "errors 10 > 10"},
		{"errors>0", svc.Traffic{Requests: 1, Exceptions: 1}, true, "errors 1 > 0"},
		{"exceptions>1", few, true, "exceptions 2 > 1"},
		{"p95>500ms", many, true, "p95 600ms > 500ms"},
		{"p95>500ms", few, false, "p95 1s > 500ms"},
		{"p95>1m", many, false, "p95 600ms > 1m"},
	} {
		r, err := svc.ParseWatchRule(test.rule)
		if detail, exceeded := r.Exceeded(test.traffic); err != nil || exceeded != test.exceeded || detail != test.detail {
			t.Errorf("%s: %v, %q, %v", test.rule, exceeded, detail, err)
		}
	}
	for _, rule := range []string{"", "errors", "errors>", "errors>-1", "errors>1.5", "errors>100%", "errors<1%", "exceptions>1%", "p95>500", "p95>-1s", "p99>1s", "errors>NaN%", "errors>1%,p95>1s"} {
		if _, err := svc.ParseWatchRule(rule); err == nil {
			t.Errorf("%q is a rule", rule)
		}
	}
}

func TestWatchOfRelease(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		watch svc.ReleaseWatch
		valid bool
	}{
		{svc.ReleaseWatch{}, true},
		{svc.ReleaseWatch{For: time.Minute, AbortOn: "errors>1%"}, true},
		{svc.ReleaseWatch{For: time.Minute}, false},
		{svc.ReleaseWatch{AbortOn: "errors>1%"}, false},
		{svc.ReleaseWatch{For: 25 * time.Hour, AbortOn: "errors>1%"}, false},
		{svc.ReleaseWatch{For: time.Minute, AbortOn: "failures>1"}, false},
	} {
		if err := (svc.ReleaseRequest{Watch: test.watch}).Validate(); (err == nil) != test.valid || err != nil && svc.AsError(err).Kind != svc.Unprocessable {
			t.Errorf("%+v: %v", test.watch, err)
		}
	}
}

package gateway_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestInvocation(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		code   string
		want   svc.Outcome
	}{
		"a response of the worker":        {status: 500, want: svc.OutcomeOK},
		"a response of the gateway":       {status: 503, code: svc.CodeVersionNotReady, want: svc.OutcomeRefused},
		"a client that left":              {status: gateway.StatusClientGone, want: svc.OutcomeCanceled},
		"a client that left, with a code": {status: gateway.StatusClientGone, code: svc.CodeVersionNotReady, want: svc.OutcomeCanceled},
	} {
		o := gateway.Observation{
			Role: svc.RoleProduction, Status: tc.status, Error: tc.code, Duration: time.Second,
			ClientID: []byte("id"), Method: []byte("GET"), Target: []byte("/a?token=secret"),
		}
		want := svc.Invocation{
			Kind: svc.LogRequest, Method: "GET", Path: svc.HideQuery("/a?token=secret"), Status: tc.status, Outcome: string(tc.want),
			Error: tc.code, Role: svc.RoleProduction, ClientID: "id", Duration: time.Second,
		}
		if got := o.Invocation(); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

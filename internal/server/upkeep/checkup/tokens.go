package checkup

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// Tokens checks SVC_TOKENS_FILE.
func Tokens(trouble func() *svc.TokensTrouble) Check {
	return Check{"tokens", func(context.Context) svc.Finding {
		t := trouble()
		switch {
		case t == nil:
			return svc.Found(svc.FindingOK, "SVC_TOKENS_FILE can be read")
		case t.Valid == 0:
			return svc.Found(svc.FindingFailed, "%s: %s; none of its tokens is valid", t.File, t.Detail).WithAdvice("repair SVC_TOKENS_FILE; the server reads it again within a second")
		}
		return svc.Found(svc.FindingWarning, "%s: %s; %d tokens of before stay valid until %s", t.File, t.Detail, t.Valid, t.Until.UTC().Format("15:04:05 UTC")).
			WithAdvice("repair SVC_TOKENS_FILE; the server reads it again within a second")
	}}
}

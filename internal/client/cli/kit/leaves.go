package kit

import (
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/client"
)

// LeavesError reports a promote that would leave writes of production behind, which the caller
// did not accept.
type LeavesError struct {
	Text  string
	Cause error // a refusal of the service; may be nil
}

func (e *LeavesError) Error() string { return e.Text }

func (e *LeavesError) Unwrap() error { return e.Cause }

// exitOfUndone tells a release that a repeat may complete from one that fails again.
func exitOfUndone(e *client.PromotionError) int {
	switch e.Code() {
	case svc.CodeReleaseBusy, svc.CodeReleaseInterrupted, svc.CodeStoreUnavailable, svc.CodeArtifactUnreadable:
		return ExitBusy
	}
	return ExitFailure
}

package checkup

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// Groups says how the memory and processor time of versions are limited: by control groups with
// these controllers or, if controllers is "", without them, for the reason why.
func Groups(controllers string, why error) Check {
	return Check{"limits of versions", func(context.Context) svc.Finding {
		if controllers != "" {
			return svc.Found(svc.FindingOK, "each version has a control group with %s", controllers)
		}
		return svc.Found(svc.FindingOK, "memory is measured, and processor time is shared as between any processes: %v", why)
	}}
}

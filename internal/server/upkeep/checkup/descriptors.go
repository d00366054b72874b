package checkup

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// few is the share of the wanted connections below which a server has too few: the default setting is for a
// machine with many open files, and most have fewer.
const few = 4

// Descriptors checks the hard limit of open files. It warns if the gateway accepts far fewer
// connections than SVC_MAX_CONNECTIONS, which is wanted, because of that limit.
func Descriptors(limit, wanted, accepted int) Check {
	return Check{"file descriptors", func(context.Context) svc.Finding {
		if accepted >= wanted {
			return svc.Found(svc.FindingOK, "at most %d open files, enough for %d connections", limit, wanted)
		}
		if accepted >= wanted/few {
			return svc.Found(svc.FindingOK, "at most %d open files, enough for %d connections of the %d in SVC_MAX_CONNECTIONS", limit, accepted, wanted)
		}
		return svc.Found(svc.FindingWarning, "at most %d open files: the gateway accepts %d connections, SVC_MAX_CONNECTIONS is %d", limit, accepted, wanted).
			WithAdvice("raise the limit: LimitNOFILE= of the unit, --ulimit nofile= of the container, ulimit -Hn in a shell; or lower SVC_MAX_CONNECTIONS")
	}}
}

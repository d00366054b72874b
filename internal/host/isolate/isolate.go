package isolate

import (
	"github.com/svcctl/svcctl/internal/svc"
)

// Base has what servers of one machine share: the locks of uids, and the directories of sockets,
// which every user may pass through and not list.
const Base = "/run/svcctl"

// refuse is the error of a machine that cannot isolate.
func refuse(format string, args ...any) *svc.Error {
	return svc.Errorf(svc.Conflict, svc.CodeIsolation, "SVC_ISOLATION=user: "+format, args...)
}

// instead is the way out that always exists.
const instead = ", or set SVC_ISOLATION=process"

package checkup

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// Confinement says whether workerd is confined to the files that it needs, as mode asks for, and
// whether each one has a user of its own (isolated).
// landlock reports whether this process may use Landlock; remote, whether versions run on
// other machines, of which this one knows nothing.
func Confinement(mode svc.Confine, landlock, isolated, remote bool) Check {
	reads := "has all rights of the server"
	missing := "reads all files of the server"
	user := "it has the user of the server (SVC_ISOLATION=process)"
	if isolated {
		reads, missing = "reads what all users of the machine may read", "reads what all users of the machine may read"
		user = "each one has a user of its own (SVC_ISOLATION=user)"
	}
	return Check{"confinement", func(context.Context) svc.Finding {
		switch {
		case remote:
			return svc.Found(svc.FindingSkipped, "versions run on other machines")
		case mode == svc.ConfineOff:
			return svc.Found(svc.FindingWarning, "SVC_WORKER_CONFINE is off: a worker that breaks out of workerd %s; %s", reads, user).
				WithAdvice("set SVC_WORKER_CONFINE=auto")
		case !landlock:
			return svc.Found(svc.FindingWarning, "Landlock is missing or denied: a worker that breaks out of workerd %s; %s", missing, user).
				WithAdvice("use a kernel with Landlock (5.13, lsm=landlock,…), and allow landlock_create_ruleset, landlock_add_rule and landlock_restrict_self " +
					"where system calls are filtered: SystemCallFilter= of the unit, the seccomp profile of a container")
		}
		return svc.Found(svc.FindingOK, "workerd is confined to its files (Landlock); %s", user)
	}}
}

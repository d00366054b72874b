package workerhost

import (
	"log/slog"

	"github.com/svcctl/svcctl/internal/lib/cgroup"
	"github.com/svcctl/svcctl/internal/svc"
)

// besideMB is what the control group of the pair may use beyond the limit of the pair: pages of
// programs and files, buffers of sockets and tables of pages count in a group. The memoryWatch
// ends a worker at its limit, and knows how much it used; the group ends one that is faster.
const besideMB = 64

// memoryMB is the limit of the pair of host and workerd, in MiB: the project's own, or that
// of all versions; 0 for none.
func (v *version) memoryMB() int {
	if l := v.manifest.Limits; l != nil && l.MemoryMB > 0 {
		return l.MemoryMB
	}
	return v.spec.Host.MemoryMB
}

// limitGroup sets the limit of the pair's control group, if there is one.
func (v *version) limitGroup(log *slog.Logger) {
	limit := int64(v.memoryMB())
	if limit > 0 {
		limit += besideMB
	}
	if err := cgroup.At(v.spec.Local.Group).Limit(limit << 20); err != nil {
		log.Warn("the control group has no limit of memory; continuing with measuring", "error", err)
	}
}

// subrequests is the number of calls of fetch in one invocation: the server's limit, or the
// project's own when that is lower; 0 for no limit.
func (v *version) subrequests() int {
	limit := v.spec.Host.Subrequests
	if l := v.manifest.Limits; l != nil && l.Subrequests > 0 && (limit == 0 || l.Subrequests < limit) {
		return l.Subrequests
	}
	return limit
}

// checkLimits refuses a project's own limit that exceeds the operator's.
func (v *version) checkLimits() error {
	highest := v.spec.Host.MemoryMaxMB
	if l := v.manifest.Limits; l != nil && highest > 0 && l.MemoryMB > highest {
		return svc.Errorf(svc.Unprocessable, svc.CodeMemoryLimitTooHigh, "limits.memory_mb is %d, and this server allows %d", l.MemoryMB, highest).
			WithHint("lower it, or have the operator raise SVC_WORKER_MEMORY_MAX_MB")
	}
	return nil
}

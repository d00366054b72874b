package workerhost

import (
	"log/slog"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/svc"
)

// confineThread takes from the calling thread what workerd does not need, as the operator has
// set it: with ConfineAuto, as far as the kernel can.
func confineThread(spec svc.RuntimeSpec, objects string, log *slog.Logger) error {
	mode := spec.Host.Confine
	if mode == svc.ConfineOff {
		return nil
	}
	write := []string{spec.Local.RunDir}
	if objects != "" {
		write = append(write, objects)
	}
	report, err := confine.Thread(confine.Profile{Program: spec.Local.Workerd, Read: []string{spec.Local.BundleDir}, Write: write})
	switch {
	case err == nil && report.Complete():
		return nil
	case mode == svc.ConfineRequire:
		return svc.Errorf(svc.Unavailable, svc.CodeUnconfined, "this kernel cannot confine workerd (Landlock: %t, seccomp: %t)",
			report.Files, report.SystemCalls).WithHint("use a newer kernel, or set SVC_WORKER_CONFINE=auto").Because(err)
	}
	log.Warn("workerd runs with fewer restrictions; continuing", "landlock", report.Files, "seccomp", report.SystemCalls, "error", err)
	return nil
}

package workerhost

import (
	"log/slog"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/svc"
)

// profile is what the workerd of a version needs.
func (v *version) profile() confine.Profile {
	p := confine.Profile{Program: v.spec.Local.Workerd, Read: []string{v.spec.Local.BundleDir}, Write: []string{v.spec.Local.RunDir}, Listen: v.spec.Host.Inspect}
	if objects := v.objectsDir(); objects != "" {
		p.Write = append(p.Write, objects)
	}
	return p
}

// confineThread takes from the calling thread what workerd does not need, as the operator has
// set it: with ConfineAuto, as far as the kernel can. A workerd with a uid of its own has no
// capabilities in any case.
func confineThread(mode svc.Confine, isolated bool, p confine.Profile, log *slog.Logger) error {
	if isolated {
		if err := confine.Privileges(); err != nil {
			return err
		}
	}
	if mode == svc.ConfineOff {
		return nil
	}
	report, err := confine.Thread(p)
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

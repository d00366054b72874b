package lifecycle

import (
	"context"

	"github.com/svcctl/svcctl/internal/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// Archive stops a ready version and keeps its data: its hosts answer 503, the
// requests in flight finish, the process ends, the data is sealed. An archived
// version stays as it is; what an earlier call could not do is done then.
//
// Errors: Conflict, version_is_production, version_not_ready or
// promote_in_progress; Gone, version_destroyed; NotFound; Unavailable,
// archive_incomplete, when the version is archived and its data is not sealed.
// spec: POST …/archive; [D18].
func (s *Service) Archive(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil {
		err = archivable(v)
	}
	if err == nil && !v.Status.Serves() && s.waking(ref) { // its turn may last
		err = svc.Errorf(svc.Conflict, "version_not_ready", "version %s is being woken", ref).WithHint("wait until it is ready")
	}
	if err != nil {
		return svc.Version{}, err
	}
	ctx, end, err := s.begin(ctx, ref)
	if err != nil {
		return svc.Version{}, err
	}
	defer end()
	if v, err = s.enterArchive(ctx, ref); err != nil {
		return svc.Version{}, err
	}
	return v, s.rest(ctx, ref)
}

// enterArchive is the move that decides, unless an earlier call has made it.
func (s *Service) enterArchive(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil {
		err = archivable(v)
	}
	if err != nil || v.Status == svc.StatusArchived {
		return v, err
	}
	failpoint.Hit("lifecycle/archive/started")
	if v, err = s.deps.Versions.Move(ctx, ref, svc.TriggerArchive, svc.Change{}); err != nil {
		return svc.Version{}, err
	}
	failpoint.Hit("lifecycle/archive/moved")
	s.deps.Routes.StatusChanged(ref, v.Status)
	s.logger(ref).InfoContext(ctx, "version is archived")
	return v, nil
}

// archivable refuses a version that cannot be archived.
func archivable(v svc.Version) error {
	switch {
	case v.Status == svc.StatusDestroyed:
		return destroyed(v.Ref)
	case v.Production:
		return isProduction(v.Ref, "archived")
	case v.Status == svc.StatusDraining:
		return isDraining(v.Ref)
	case v.Status.InDeploy():
		return svc.Errorf(svc.Conflict, "version_not_ready", "version %s is %s; only a ready version can be archived", v.Ref, v.Status).
			WithHint("wait until it is ready")
	case v.Status == svc.StatusFailed:
		return svc.Errorf(svc.Conflict, "version_not_ready", "version %s failed; only a ready version can be archived", v.Ref).
			WithHint("it has no process; destroy it to remove what is left of it")
	}
	return nil
}

// rest brings a version whose status says that it is archived to rest: the last
// requests, the process, the data. It may be repeated.
func (s *Service) rest(ctx context.Context, ref svc.Ref) error {
	s.drain(ctx, ref)
	err := s.deps.Runtimes.Stop(ctx, ref)
	failpoint.Hit("lifecycle/archive/stopped")
	if err == nil {
		err = s.seal(ctx, ref)
		failpoint.Hit("lifecycle/archive/sealed")
	}
	if err == nil {
		return nil
	}
	s.logger(ref).ErrorContext(ctx, "an archived version's data is not sealed", "error", err)
	return svc.Errorf(svc.Unavailable, "archive_incomplete", "version %s is archived, and its data is still on the server's disk only", ref).
		WithHint("archive it again; the service tries by itself as well, every few minutes").Because(err)
}

// seal seals a version's data, or gives up, after a while or because the version
// is destroyed: then the files stay, and a repeated archive, Sweep or the next
// start seals them.
func (s *Service) seal(ctx context.Context, ref svc.Ref) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.deps.SealLimit, errSealLimit)
	defer cancel()
	s.setSeal(ref, cancel)
	defer s.setSeal(ref, nil)
	return s.deps.Vault.Seal(ctx, ref)
}

func (s *Service) setSeal(ref svc.Ref, cancel context.CancelFunc) { s.note(s.seals, ref, cancel) }

// note keeps what ends a sealing, until it is nil.
func (s *Service) note(in map[svc.Ref]context.CancelFunc, ref svc.Ref, cancel context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in[ref] = cancel; cancel == nil {
		delete(in, ref)
	}
}

// endSeal ends a sealing under way, for nobody needs what is destroyed.
func (s *Service) endSeal(ref svc.Ref) { s.endNoted(s.seals, ref) }

func (s *Service) endNoted(in map[svc.Ref]context.CancelFunc, ref svc.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := in[ref]; cancel != nil {
		cancel()
	}
}

// sealUnasked seals a version for nobody who waits: a wake need not wait either,
// and ends it. The data stays where it is.
func (s *Service) sealUnasked(ctx context.Context, ref svc.Ref) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.note(s.unasked, ref, cancel)
	defer s.note(s.unasked, ref, nil)
	if s.waking(ref) {
		return nil
	}
	return s.seal(ctx, ref)
}

func (s *Service) drain(ctx context.Context, ref svc.Ref) {
	ctx, cancel := context.WithTimeout(ctx, s.deps.DrainWait)
	defer cancel()
	if err := s.deps.Routes.DrainVersion(ctx, ref); err != nil {
		s.logger(ref).WarnContext(ctx, "requests are cut off", "reason", err)
	}
}

// SetPinned protects a version from idle archiving, or no longer. Setting what
// is there already is no error. Errors: Gone, version_destroyed; NotFound.
// spec: Pin and unpin; [D18].
func (s *Service) SetPinned(ctx context.Context, ref svc.Ref, pinned bool) (svc.Version, error) {
	return s.deps.Versions.SetPinned(ctx, ref, pinned)
}

func destroyed(ref svc.Ref) error {
	return svc.Errorf(svc.Gone, "version_destroyed", "version %s was destroyed", ref)
}

func isProduction(ref svc.Ref, what string) error {
	return svc.Errorf(svc.Conflict, "version_is_production", "version %s is production: it cannot be %s", ref, what).
		WithHint("promote another version first")
}

func isDraining(ref svc.Ref) error {
	return svc.Errorf(svc.Conflict, "promote_in_progress", "version %s drains for a promotion", ref).
		WithHint("wait until the promotion has ended")
}

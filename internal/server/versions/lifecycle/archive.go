package lifecycle

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// Archive stops a ready version and archives its data: its host names answer 503,
// requests in flight finish, the process ends, the data is shipped and the cache
// dropped. For an archived version it completes what an earlier call could not do. The
// record says what work waits until the version is woken.
//
// Errors: Conflict, version_is_production, version_not_ready or
// promote_in_progress; Gone, version_destroyed; NotFound; Unavailable,
// archive_incomplete, if the version is archived and its data is not.
// spec: [C9.1] [C9.2] [D18].
func (s *Service) Archive(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil {
		err = archivable(v)
	}
	if err == nil && !v.Status.Serves() && s.wakes.Active(ref) { // do not wait for its lock
		err = svc.Errorf(svc.Conflict, svc.CodeVersionNotReady, "version %s is being woken", ref).WithHint("wait until it is ready")
	}
	if err != nil {
		return svc.Version{}, err
	}
	waiting := s.workOf(ctx, v)
	ctx, end, err := s.begin(ctx, ref)
	if err != nil {
		return svc.Version{}, err
	}
	defer end()
	if v, err = s.enterArchive(ctx, ref, svc.Change{}); err != nil {
		return svc.Version{}, err
	}
	v.Waiting = waiting
	return v, s.finishArchive(ctx, ref)
}

// waitingLimit is the time to count the work that an archive stops.
const waitingLimit = 2 * time.Second

// workOf counts the work of a version that an archive stops.
func (s *Service) workOf(ctx context.Context, v svc.Version) svc.Waiting {
	if !v.Status.Serves() {
		return svc.Waiting{}
	}
	ctx, cancel := context.WithTimeout(ctx, waitingLimit)
	defer cancel()
	return s.deps.Usage.Waiting(ctx, v.Ref)
}

// enterArchive moves the version to archived, unless it is archived.
func (s *Service) enterArchive(ctx context.Context, ref svc.Ref, c svc.Change) (svc.Version, error) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil {
		err = archivable(v)
	}
	if err != nil || v.Status == svc.StatusArchived {
		return v, err
	}
	failpoint.Hit("lifecycle/archive/started")
	if v, err = s.deps.Versions.Move(ctx, ref, svc.TriggerArchive, c); err != nil {
		return svc.Version{}, err
	}
	failpoint.Hit("lifecycle/archive/moved")
	s.deps.Routes.StatusChanged(ref, v.Status)
	s.logger(ref).InfoContext(ctx, "version archived", "idle", c.Unpinned)
	return v, nil
}

// archivable returns an error for a version that cannot be archived.
func archivable(v svc.Version) error {
	switch {
	case v.Status == svc.StatusDestroyed:
		return destroyed(v.Ref)
	case v.Production:
		return isProduction(v.Ref, "archived")
	case v.Status == svc.StatusDraining:
		return isDraining(v.Ref)
	case v.Status.InDeploy():
		return svc.Errorf(svc.Conflict, svc.CodeVersionNotReady, "version %s is %s; only a ready version can be archived", v.Ref, v.Status).
			WithHint("wait until it is ready")
	case v.Status == svc.StatusFailed:
		return svc.Errorf(svc.Conflict, svc.CodeVersionNotReady, "version %s failed; only a ready version can be archived", v.Ref).
			WithHint("destroy it to delete its records and logs")
	}
	return nil
}

// finishArchive drains an archived version, stops its runtime, archives its data and
// deletes its unpacked bundle. Idempotent.
func (s *Service) finishArchive(ctx context.Context, ref svc.Ref) error {
	s.drain(ctx, ref)
	err := s.deps.Runtimes.Stop(ctx, ref)
	failpoint.Hit("lifecycle/archive/stopped")
	if err == nil {
		err = s.archiveData(ctx, ref)
		failpoint.Hit("lifecycle/archive/shipped")
	}
	if err == nil {
		if err := s.deps.Runtimes.DropBundle(ctx, ref); err != nil {
			s.logger(ref).WarnContext(ctx, "deleting the unpacked bundle of an archived version failed; it stays on the disk", "error", err)
		}
		return nil
	}
	s.logger(ref).ErrorContext(ctx, "archiving the data of a version failed; retrying at the next cleanup", "error", err)
	return svc.Errorf(svc.Unavailable, svc.CodeArchiveIncomplete, "version %s is archived, and its data is still only on the server's disk", ref).
		WithHint("archive it again, or wait: the service retries every few minutes").Because(err)
}

// archiveData archives a version's data. It ends early after ArchiveLimit or when
// the version is destroyed: then the files stay, and a repeated Archive, Cleanup or
// the next start retries.
func (s *Service) archiveData(ctx context.Context, ref svc.Ref) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.deps.ArchiveLimit, errArchiveLimit)
	defer cancel()
	ctx, unlock, err := s.archiving.Lock(ctx, ref)
	if err != nil {
		return err
	}
	defer unlock()
	return s.deps.Data.Archive(ctx, ref)
}

// archiveInBackground archives a version's data without a waiting caller: a wake
// interrupts it, and the data stays in the cache.
func (s *Service) archiveInBackground(ctx context.Context, ref svc.Ref) error {
	ctx, unlock, err := s.background.Lock(ctx, ref)
	if err != nil {
		return err
	}
	defer unlock()
	if s.wakes.Active(ref) {
		return nil
	}
	return s.archiveData(ctx, ref)
}

func (s *Service) drain(ctx context.Context, ref svc.Ref) { s.drainFor(ctx, ref, s.deps.DrainWait) }

func (s *Service) drainFor(ctx context.Context, ref svc.Ref, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := s.deps.Routes.DrainVersion(ctx, ref); err != nil {
		s.logger(ref).WarnContext(ctx, "drain limit reached; cutting off requests", "reason", err)
	}
}

// SetPinned sets whether a version is protected from idle archiving. Idempotent.
// Errors: Gone, version_destroyed; NotFound.
// spec: [C9.8] [C9.9] [D18].
func (s *Service) SetPinned(ctx context.Context, ref svc.Ref, pinned bool) (svc.Version, error) {
	return s.deps.Versions.SetPinned(ctx, ref, pinned)
}

func destroyed(ref svc.Ref) error {
	return svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "version %s was destroyed", ref)
}

func isProduction(ref svc.Ref, what string) error {
	return svc.Errorf(svc.Conflict, svc.CodeVersionIsProduction, "version %s is production: it cannot be %s", ref, what).
		WithHint("promote another version first")
}

func isDraining(ref svc.Ref) error {
	return svc.Errorf(svc.Conflict, svc.CodePromoteInProgress, "version %s is draining for a promotion", ref).
		WithHint("wait until the promotion has ended")
}

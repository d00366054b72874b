package backup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// share bounds the time that copying takes: the pause is at least this many times as
	// long as the last copy took, without its transfer.
	share = 20
	// lastCopy is the time limit of the copy at a stop.
	lastCopy = 5 * time.Second
	// firstRetry and longRetry bound the pause after a failed copy.
	firstRetry = time.Second
	longRetry  = 30 * time.Second
	// attempt is the time limit of one copy, at least 256 KiB/s for a registry of 100 MB.
	attempt = 5 * time.Minute
)

// Registry is what a Service copies.
type Registry interface {
	// Changed returns a channel that the end of the next write closes.
	Changed() <-chan struct{}
	// Snapshot returns the file as of its last write.
	Snapshot(ctx context.Context) ([]byte, error)
}

// Config configures a Service.
type Config struct {
	Registry Registry
	Bucket   objstore.Bucket
	Node     string
	Key      svc.Secret
	Files    func() (map[string][]byte, error) // stored beside the registry, as of each copy; may be nil
	Window   time.Duration                     // between a change and its copy
	// Writer is the identity of this process, if others may take over; else "". If there are copies,
	// it has called TakeOver.
	Writer string
	// Taken is called once when another process has continued the copies of Writer. May be nil.
	Taken  func()
	Logger *slog.Logger
}

// Service copies a registry soon after each change. Create it with Start.
type Service struct {
	cfg    Config
	log    *Log // nil until it is open
	cancel context.CancelFunc
	done   chan struct{}
	asked  chan struct{} // Sync asks for a copy; has room for one

	mu     sync.Mutex
	wanted int64           // number of the last call of Sync
	stored int64           // number of the last call of Sync whose changes are stored
	change chan struct{}   // closed and replaced when stored changes
	clean  <-chan struct{} // the end of the first write that is not stored closes it; nil before the first copy
	behind time.Time       // since when a change waits for its copy; zero if none does
	copied time.Time       // state of the registry that is stored; zero before the first copy
	last   error           // of the last attempt
}

// Start starts a Service. It sends no request before it returns.
func Start(ctx context.Context, c Config) *Service {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Service{cfg: c, cancel: cancel, done: make(chan struct{}), asked: make(chan struct{}, 1), change: make(chan struct{}), behind: time.Now()}
	go s.run(ctx)
	return s
}

// Stop copies the last changes, for at most lastCopy, and stops.
func (s *Service) Stop(ctx context.Context) error {
	s.cancel()
	<-s.done
	ctx, cancel := context.WithTimeout(ctx, lastCopy)
	defer cancel()
	if _, err := s.copyOnce(ctx); err != nil {
		s.cfg.Logger.WarnContext(ctx, "the last changes of the registry are not in the object store", "error", err)
	}
	return nil
}

// Behind returns for how long a change has waited for its copy, and why.
func (s *Service) Behind() (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.behind.IsZero() {
		return 0, nil
	}
	return time.Since(s.behind), s.last
}

// Copied returns the time of the state of the registry that is stored; zero before the first
// copy of this process.
func (s *Service) Copied() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copied
}

// Sync waits until the changes so far are stored; without any it returns immediately. Calls at the
// same time share one copy. Error: the end of ctx, with that of the last attempt.
func (s *Service) Sync(ctx context.Context) error {
	s.mu.Lock()
	if s.isClean() {
		s.mu.Unlock()
		return nil
	}
	s.wanted++
	mine := s.wanted
	s.mu.Unlock()
	for {
		s.mu.Lock()
		stored, change, last := s.stored, s.change, s.last
		s.mu.Unlock()
		if stored >= mine {
			return nil
		}
		select {
		case s.asked <- struct{}{}:
		default:
		}
		select {
		case <-change:
		case <-s.done:
			return errors.Join(errors.New("the copies of the registry have stopped"), last)
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), last)
		}
	}
}

// isClean reports whether nothing was written since the last copy. The caller holds mu.
func (s *Service) isClean() bool {
	if s.clean == nil {
		return false
	}
	select {
	case <-s.clean:
		return false
	default:
		return true
	}
}

// Check is a health check: it fails if a change has waited for longer than limit.
func (s *Service) Check(limit time.Duration) func(context.Context) error {
	return func(context.Context) error {
		if behind, err := s.Behind(); behind > limit {
			return fmt.Errorf("the copy of the registry is %s behind: %w", behind.Round(time.Second), err)
		}
		return nil
	}
}

func (s *Service) run(ctx context.Context) {
	defer close(s.done)
	for retry := firstRetry; ; {
		changed := s.cfg.Registry.Changed() // before the copy, which may miss what follows
		took, err := s.copyOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, ErrTaken) {
			s.cfg.Logger.ErrorContext(ctx, "another server has taken over", "error", err)
			if s.cfg.Taken != nil {
				s.cfg.Taken()
			}
			return
		}
		if err != nil {
			s.cfg.Logger.WarnContext(ctx, "copying the registry failed; retrying", "error", err, "retry_in", retry)
			if backoff.Sleep(ctx, retry) != nil {
				return
			}
			retry = min(2*retry, longRetry)
			continue
		}
		retry = firstRetry
		select {
		case <-changed:
		case <-s.asked:
			continue
		case <-ctx.Done():
			return
		}
		s.setBehind(time.Now(), nil)
		if !s.pause(ctx, max(s.cfg.Window, share*took)) {
			return
		}
	}
}

// pause waits before a copy, until Sync asks for one. It returns false when ctx has ended.
func (s *Service) pause(ctx context.Context, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.asked:
	case <-ctx.Done():
		return false
	}
	return true
}

// copyOnce stores the current state. took is the time without transfers.
func (s *Service) copyOnce(ctx context.Context) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	defer func() {
		if err != nil {
			s.setBehind(time.Time{}, err)
		}
	}()
	if s.log == nil {
		if s.log, err = s.open(ctx); err != nil {
			return 0, err
		}
	}
	s.mu.Lock()
	wanted := s.wanted
	s.mu.Unlock()
	began, changed := time.Now(), s.cfg.Registry.Changed()
	database, err := s.cfg.Registry.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	took = time.Since(began)
	var files map[string][]byte
	if s.cfg.Files != nil {
		if files, err = s.cfg.Files(); err != nil {
			return took, err
		}
	}
	if _, err := s.log.Append(ctx, database, files, began); err != nil {
		if s.cfg.Writer != "" {
			s.log = nil // what is stored is read again
		}
		return took, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored, s.clean = wanted, changed
	close(s.change)
	s.change = make(chan struct{})
	s.behind, s.copied, s.last = time.Time{}, began, nil
	return took, nil
}

// open continues the chain of the process before, or begins one if that cannot be read.
func (s *Service) open(ctx context.Context) (*Log, error) {
	l, err := Open(ctx, s.cfg.Bucket, s.cfg.Node, s.cfg.Key, false)
	if err == nil && s.cfg.Writer != "" {
		if l.Exclusive(s.cfg.Writer); l.chain != "" && l.head != s.cfg.Writer {
			err = ErrTaken
		}
	}
	if err == nil || ctx.Err() != nil || s.cfg.Writer != "" {
		return l, err
	}
	s.cfg.Logger.WarnContext(ctx, "the last copy of the registry cannot be continued; beginning a new one", "error", err)
	return Open(ctx, s.cfg.Bucket, s.cfg.Node, s.cfg.Key, true)
}

// setBehind records that a change waits, since at unless one waits already.
func (s *Service) setBehind(at time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.behind.IsZero() {
		s.behind = at
	}
	if s.behind.IsZero() {
		s.behind = time.Now()
	}
	s.last = err
}

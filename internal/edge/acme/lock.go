package acme

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/lib/backoff"
)

const (
	// lockTime is how long an object of a lock stays unchanged until others take the lock:
	// its holder has ended without releasing it.
	lockTime = 20 * time.Second
	// lockRenew is the time between two changes by the holder.
	lockRenew = 5 * time.Second
	// lockPause is the time between two looks of those that wait.
	lockPause = 250 * time.Millisecond
)

// lock is a lock that this process holds: an object that it changes while it holds it.
type lock struct {
	stop  context.CancelFunc
	ended sync.WaitGroup // of the goroutine that changes the object
	lost  bool           // read it after ended
}

func (s *store) lockKey(name string) string { return s.prefix + "locks/" + name }

// Lock implements certmagic.Locker. The clocks of machines are not compared: who waits
// measures for how long the object has not changed.
func (s *store) Lock(ctx context.Context, name string) error {
	var seen string
	var since time.Time
	for {
		info, err := s.putLock(ctx, name, objstore.Condition{IfAbsent: true})
		if err == nil {
			s.hold(ctx, name, info.ETag)
			return nil
		}
		if !errors.Is(err, objstore.ErrPrecondition) {
			return err
		}
		info, err = s.bucket.Stat(ctx, s.lockKey(name))
		switch {
		case errors.Is(err, objstore.ErrNotExist):
			continue
		case err != nil:
			return err
		case info.ETag != seen:
			seen, since = info.ETag, time.Now()
		case time.Since(since) >= lockTime:
			if info, err = s.putLock(ctx, name, objstore.Condition{IfMatch: seen}); err == nil {
				s.hold(ctx, name, info.ETag)
				return nil
			}
		}
		if err := backoff.Sleep(ctx, lockPause); err != nil {
			return err
		}
	}
}

// putLock writes the object of a lock with a new content.
func (s *store) putLock(ctx context.Context, name string, cond objstore.Condition) (objstore.Info, error) {
	return objstore.SettleBytes(ctx, s.bucket, s.lockKey(name), []byte(rand.Text()), cond)
}

// hold changes the object of a lock until Unlock.
func (s *store) hold(ctx context.Context, name, etag string) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &lock{stop: stop}
	s.mu.Lock()
	s.locks[name] = l
	s.mu.Unlock()
	l.ended.Go(func() {
		for backoff.Sleep(ctx, lockRenew) == nil {
			info, err := s.putLock(ctx, name, objstore.Condition{IfMatch: etag})
			if errors.Is(err, objstore.ErrPrecondition) {
				l.lost = true
				return
			}
			if err == nil {
				etag = info.ETag
			}
		}
	})
}

// Unlock implements certmagic.Locker. It leaves the object alone if another server has taken
// the lock meanwhile.
func (s *store) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	l := s.locks[name]
	delete(s.locks, name)
	s.mu.Unlock()
	if l == nil {
		return fmt.Errorf("the lock %s is not held", name)
	}
	l.stop()
	l.ended.Wait()
	if l.lost {
		return nil
	}
	return s.bucket.Delete(ctx, s.lockKey(name))
}

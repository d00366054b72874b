package assetstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// CollectOptions are options of Collect.
type CollectOptions struct {
	DryRun bool          // change nothing
	Grace  time.Duration // how long files are kept that no version needs
	// Ended returns since when a version is failed or destroyed; false for one that is
	// not, or that the registry does not know.
	Ended func(version string) (since time.Time, ended bool)
}

// sweep is the end of a collection. It holds while the lists are the same.
type sweep struct {
	lists string // keys and ETags
	due   time.Time
	found svc.GCAssets
}

// Collect deletes the files of a project that no list of a version names: those older
// than the grace, and the lists of versions that ended before the grace. While no list
// changes, it repeats the report of the last time and reads nothing else.
func (s *Store) Collect(ctx context.Context, project string, o CollectOptions) (svc.GCAssets, error) {
	ctx, unlock, err := s.locks.Lock(ctx, project)
	if err != nil {
		return svc.GCAssets{}, err
	}
	defer unlock()
	keys, state, err := s.lists(ctx, project, o)
	if err != nil {
		return svc.GCAssets{}, err
	}
	s.mu.Lock()
	last, known := s.swept[project]
	s.mu.Unlock()
	if known && last.lists == state && (last.due.IsZero() || time.Now().Before(last.due)) {
		return last.found, nil
	}
	next, err := s.sweep(ctx, project, keys, o)
	if err != nil {
		return next.found, err
	}
	if next.lists = state; !o.DryRun {
		s.mu.Lock()
		last = next
		last.found.Gone = svc.Amount{}
		s.swept[project] = last
		s.mu.Unlock()
	}
	return next.found, nil
}

// lists returns the keys of the lists that count, and deletes those that do not. state
// changes with them.
func (s *Store) lists(ctx context.Context, project string, o CollectOptions) (keys []string, state string, err error) {
	var over []string
	var b strings.Builder
	for _, dir := range []string{"/asked/", "/lists/", keptLists} {
		prefix := root + project + dir
		err := objstore.Each(ctx, s.cfg.Bucket, prefix, func(info objstore.Info) error {
			if since, ended := o.Ended(strings.TrimPrefix(info.Key, prefix)); ended && time.Since(since) >= o.Grace {
				over = append(over, info.Key)
				return nil
			}
			keys = append(keys, info.Key)
			fmt.Fprintln(&b, info.Key, info.ETag)
			return nil
		})
		if err != nil {
			return nil, "", fmt.Errorf("listing the lists of assets of %s: %w", project, err)
		}
	}
	if o.DryRun || len(over) == 0 {
		return keys, b.String(), nil
	}
	return keys, b.String(), s.cfg.Bucket.Delete(ctx, over...)
}

// sweep deletes the files that no list names.
func (s *Store) sweep(ctx context.Context, project string, lists []string, o CollectOptions) (sweep, error) {
	needed := map[string]struct{}{}
	for _, key := range lists {
		list, err := s.needs(ctx, key)
		if err != nil {
			return sweep{}, err
		}
		for hash := range list {
			needed[hash] = struct{}{}
		}
	}
	var next sweep
	var gone []string
	err := s.stored(ctx, project, func(info objstore.Info, hash string) {
		due := info.Modified.Add(o.Grace)
		one := svc.Amount{Objects: 1, Bytes: info.Size}
		switch _, live := needed[hash]; {
		case live:
			next.found.Live = next.found.Live.Plus(one)
		case time.Now().Before(due):
			next.found.Waiting = next.found.Waiting.Plus(one)
			if next.due.IsZero() || due.Before(next.due) {
				next.due = due
			}
		default:
			next.found.Gone = next.found.Gone.Plus(one)
			gone = append(gone, info.Key)
		}
	})
	if err != nil || o.DryRun || len(gone) == 0 {
		return next, err
	}
	if err := s.cfg.Bucket.Delete(ctx, gone...); err != nil {
		return sweep{}, fmt.Errorf("deleting assets of %s: %w", project, err)
	}
	return next, nil
}

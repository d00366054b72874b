package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
)

// TXID numbers the transactions of a store from 1. A child counts on from its fork.
type TXID = ltx.TXID

// Config is what Open needs.
type Config struct {
	Bucket objstore.Bucket
	Prefix string            // branch.StorePrefix
	Base   *branch.StoreBase // where a child's store begins; nil for a root's
	New    bool              // nobody has ever owned the version, so the log has no files of its own
	// Listing is what a listing of Prefix gave, if there was one: Open makes none.
	Listing []objstore.Info
	// End, when not 0, is where the log ends: nobody may append to it. When the
	// listing ends there too, Open asks for nothing else.
	End     TXID
	TempDir string // Compact writes there before it uploads; os.TempDir when ""
	// Keep is how long a superseded file may still appear in plans, 10 min when
	// 0. It must be far shorter than the grace of branch.Store.
	Keep   time.Duration
	Logger *slog.Logger
}

// Log is the log of one store. One process appends to it at a time.
type Log struct {
	bucket  objstore.Bucket
	prefix  string
	base    branch.StoreBase
	tempDir string
	keep    time.Duration
	log     *slog.Logger

	appending  sync.Mutex // held while a slot is being won
	compacting sync.Mutex

	mu       sync.Mutex // guards what follows
	own      []branch.File
	pos      TXID
	pageSize uint32 // 0 until known
	pages    uint32 // of the database at pos, 0 until known
	pending  *pending
	fenced   error
	reported map[string]bool // superseded keys that Compact returned already
}

// Open reads what the log holds: one listing, and one question for the slot
// after the last file, so that a listing that is behind is noticed. What Config
// knows already is not asked for.
func Open(ctx context.Context, c Config) (*Log, error) {
	if c.Bucket == nil || c.Prefix == "" || c.Logger == nil {
		return nil, errors.New("open log: a bucket, a prefix and a logger are required")
	}
	l := &Log{
		bucket: c.Bucket, prefix: c.Prefix, tempDir: c.TempDir, log: c.Logger,
		keep: cmp.Or(c.Keep, 10*time.Minute), reported: map[string]bool{},
	}
	l.base.Origins = []branch.Origin{} // a root has none
	if c.Base != nil {
		l.base = *c.Base
		l.pageSize = uint32(max(c.Base.PageSize, 0)) //nolint:gosec // a page size
	}
	if c.New {
		l.pos = TXID(l.base.TXID)
		return l, nil
	}
	infos := c.Listing
	if infos == nil {
		var err error
		if infos, err = objstore.ListAll(ctx, c.Bucket, c.Prefix+"/ltx/"); err != nil {
			return nil, fmt.Errorf("open log %s: %w", c.Prefix, err)
		}
	}
	for _, info := range infos {
		f, ok := branch.ParseKey(info.Key)
		if !ok || f.Prefix != c.Prefix {
			l.log.WarnContext(ctx, "object in a log is not a log file", "key", info.Key)
			continue
		}
		f.Size, f.Modified = info.Size, info.Modified
		if err := l.admit(f); err != nil {
			return nil, err
		}
	}
	return l, l.seek(ctx, c.End)
}

// admit takes a listed file into the index, if it can belong there.
func (l *Log) admit(f branch.File) error {
	switch {
	case f.Min == 0 || f.Max < f.Min || f.Level > branch.SnapshotLevel:
		return corrupt(f, "its name makes no sense")
	case f.Level == 0 && (f.Min != f.Max || f.Min <= l.base.TXID):
		return corrupt(f, "a transaction of its own must be one, after the fork at %d", l.base.TXID)
	case f.Level != branch.SnapshotLevel && f.Min <= l.base.TXID && f.Max > l.base.TXID:
		return corrupt(f, "it crosses the fork at %d", l.base.TXID)
	}
	l.own = append(l.own, f)
	return nil
}

// seek finds the position. A slot that the listing did not show, in the middle
// or at the end, is asked for by name. known is where the log ends, if not 0.
func (l *Log) seek(ctx context.Context, known TXID) error {
	for {
		end, hole := branch.Position(slices.Concat(l.base.Files, l.own))
		end = max(end, l.base.TXID)
		if !hole && known != 0 && end == uint64(known) {
			l.pos = known
			return nil
		}
		next := branch.File{Prefix: l.prefix, Min: end + 1, Max: end + 1}
		_, info, err := objstore.Read(ctx, l.bucket, next.Key(), 0, 0)
		switch {
		case errors.Is(err, objstore.ErrNotExist) && hole:
			return corrupt(next, "it is missing, and later ones are there: %w", ErrNotRestorable)
		case errors.Is(err, objstore.ErrNotExist):
			l.pos = TXID(end)
			return nil
		case err != nil:
			return fmt.Errorf("find the end of log %s: %w", l.prefix, err)
		}
		next.Size, next.Modified = info.Size, info.Modified
		l.own = append(l.own, next)
	}
}

// Position is the last transaction in the log, 0 for none.
func (l *Log) Position() TXID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pos
}

// Fenced is the ErrFenced that ended this Log's right to write, or nil.
func (l *Log) Fenced() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fenced
}

// Plan gives the files that restore the database right after txid, oldest
// first. It is ErrNotRestorable when the log does not reach txid or kept no
// file boundary there: what compaction has superseded for longer than Keep is
// not planned with any more.
func (l *Log) Plan(txid TXID) ([]branch.File, error) {
	plan, err := branch.Plan(l.plannable(), uint64(txid))
	if err != nil {
		return nil, fmt.Errorf("plan of %s: %w", l.prefix, err)
	}
	return plan, nil
}

// Cut gives the part of this store in a fork at txid: a restore plan, and the
// level 0 file of txid beside it, from which readers like litestream learn the
// position. Kind is for the caller to fill in.
func (l *Log) Cut(txid TXID) (branch.Cut, error) {
	files := l.plannable()
	plan, err := branch.Plan(files, uint64(txid))
	if err != nil {
		return branch.Cut{}, fmt.Errorf("cut of %s: %w", l.prefix, err)
	}
	for _, f := range files {
		if f.Level == 0 && f.Max == uint64(txid) && !slices.Contains(plan, f) {
			plan = append(plan, f)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return branch.Cut{PageSize: int(l.pageSize), TXID: uint64(txid), Files: plan, Origins: l.base.Origins}, nil
}

// plannable copies the files that plans may use now.
func (l *Log) plannable() []branch.File {
	l.mu.Lock()
	own := slices.Clone(l.own)
	l.mu.Unlock()
	cover := coverOf(own)
	fresh := slices.DeleteFunc(own, func(f branch.File) bool {
		since, over := cover.since(f)
		return over && time.Since(since) > l.keep
	})
	return slices.Concat(l.base.Files, fresh)
}

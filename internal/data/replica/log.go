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

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// TXID numbers the transactions of a database from 1. A child continues from its fork.
type TXID = ltx.TXID

// Config configures Open.
type Config struct {
	Bucket objstore.Bucket
	Prefix string               // branch.DatabasePrefix
	Base   *branch.DatabaseBase // where a child's database begins; nil for a root's
	New    bool                 // the version never had an owner, so the log has no files of its own
	// Listing is a listing of Prefix; nil when Open has to list.
	Listing []objstore.Info
	// End, when not 0, is where the log ends, and no process may append to it. When
	// the listing ends there too, Open sends no request for the end.
	End     TXID
	TempDir string // for merged files before their upload; os.TempDir when ""
	// Keep is how long plans may use a superseded file, 10 min when 0. It must be far
	// shorter than the grace of branch.Store.
	Keep time.Duration
	// History has Compact write history objects before level 0 files are superseded.
	History bool
	Logger  *slog.Logger
}

// Log is the log of one database. One process appends to it at a time.
type Log struct {
	bucket  objstore.Bucket
	prefix  string
	base    branch.DatabaseBase
	tempDir string
	keep    time.Duration
	log     *slog.Logger

	appending  sync.Mutex // held during an append
	compacting sync.Mutex

	mu       sync.Mutex // guards the fields below
	own      []branch.File
	pos      TXID
	pageSize uint32 // 0 until known
	pages    uint32 // of the database at pos, 0 until known
	pending  *pending
	fenced   error
	reported map[string]bool // superseded keys that Compact returned already
	past     *packed         // nil without history
}

// Open reads the state of the log: one listing, and one request for the slot after the
// last file, to detect a stale listing. It skips requests that Config answers.
func Open(ctx context.Context, c Config) (*Log, error) {
	if c.Bucket == nil || c.Prefix == "" || c.Logger == nil {
		return nil, errors.New("open log: a bucket, a prefix and a logger are required")
	}
	l := &Log{
		bucket: c.Bucket, prefix: c.Prefix, tempDir: c.TempDir, log: c.Logger,
		keep: cmp.Or(c.Keep, 10*time.Minute), reported: map[string]bool{},
	}
	if c.History {
		l.past = &packed{}
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
			l.log.WarnContext(ctx, "object in a log is not a log file; ignoring it", "key", info.Key)
			continue
		}
		f.Size, f.Modified = info.Size, info.Modified
		if err := l.addListed(f); err != nil {
			return nil, err
		}
	}
	return l, l.seek(ctx, c.End)
}

// addListed adds a listed file to the index, unless it cannot belong to the log.
func (l *Log) addListed(f branch.File) error {
	switch {
	case f.Min == 0 || f.Max < f.Min || f.Level > branch.SnapshotLevel:
		return corrupt(f, "its name is invalid")
	case f.Level == 0 && (f.Min != f.Max || f.Min <= l.base.TXID):
		return corrupt(f, "a level 0 file must have one transaction, after the fork at %d", l.base.TXID)
	case f.Level != branch.SnapshotLevel && f.Min <= l.base.TXID && f.Max > l.base.TXID:
		return corrupt(f, "it crosses the fork at %d", l.base.TXID)
	}
	l.own = append(l.own, f)
	return nil
}

// seek finds the position. It requests a slot that the listing did not show, in the
// middle or at the end, by name. known is where the log ends, if not 0.
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
			return corrupt(next, "it is missing, but later ones exist: %w", ErrNotRestorable)
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

// Fenced returns the ErrFenced that an append got, or nil.
func (l *Log) Fenced() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fenced
}

// Plan returns the files that restore the database right after txid, oldest first. It
// returns ErrNotRestorable when the log does not reach txid or no file ends there any
// more: plans do not use files superseded for longer than Keep.
func (l *Log) Plan(txid TXID) ([]branch.File, error) {
	plan, err := branch.Plan(l.plannable(), uint64(txid))
	if err != nil {
		return nil, fmt.Errorf("plan restore of %s: %w", l.prefix, err)
	}
	return plan, nil
}

// Cut returns the part of this database in a fork at txid: a restore plan and the level 0
// file of txid, which gives readers like litestream the position. The caller sets Kind.
func (l *Log) Cut(txid TXID) (branch.Cut, error) {
	files := l.plannable()
	plan, err := branch.Plan(files, uint64(txid))
	if err != nil {
		return branch.Cut{}, fmt.Errorf("cut %s: %w", l.prefix, err)
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

// plannable returns a copy of the files that plans may use now.
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

package dataplane

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// A child on the machine of its parent can begin with the parent's files instead of those in the
// object store. For that the parent holds its files: it copies no WAL into a database meanwhile.
// The two processes synchronize by the lock of a file in the parent's directory, the offer: the
// child holds a shared lock while it reads, and the parent deletes the offer under an exclusive
// lock before it releases its files. A late child finds no offer; the kernel releases the lock of
// a crashed one.

const (
	warmDir = "warm"
	// warmWait is how long a parent holds its files for a child.
	warmWait = 10 * time.Second
	// warmRead bounds how long a child reads them, since the parent's WAL grows meanwhile.
	warmRead = 10 * time.Second
	warmPoll = 200 * time.Millisecond
)

// warm is an offer of a parent.
type warm struct {
	File      string                `json:"file"`
	Databases map[string]cowvfs.Cut `json:"stores"`
}

// offer holds the files of databases at the staged cut, and returns the offer for the child; "" when
// no file can be offered. The caller keeps writers out.
func (v *Volumes) offer(ctx context.Context, dbs []*database) string {
	w := warm{Databases: map[string]cowvfs.Cut{}}
	var releases []func()
	for _, db := range dbs {
		cut, release, err := db.file.Hold(ctx)
		if err != nil { // pages are missing: the child reads from the object store
			continue
		}
		w.Databases[db.name] = cut
		releases = append(releases, release)
	}
	release := func() {
		for _, r := range releases {
			r()
		}
	}
	if len(releases) == 0 {
		return ""
	}
	text, err := v.publish(&w)
	if err != nil {
		v.cfg.Logger.WarnContext(ctx, "offer of local files failed; the child reads from the object store", "error", err)
		release()
		return ""
	}
	v.work.Go(func() {
		if w.await(v.background) {
			release()
		} // otherwise this process ends, and the next one waits for the child, see cache.open
	})
	return text
}

func (v *Volumes) publish(w *warm) (string, error) {
	dir := filepath.Join(v.cfg.Dir, warmDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	w.File = filepath.Join(dir, rand.Text())
	if err := os.WriteFile(w.File, nil, 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(w)
	return string(text), err
}

// await returns true once no child reads the files any more, or none began in time, and false when
// ctx ends first.
func (w *warm) await(ctx context.Context) bool {
	deadline := time.Now().Add(warmWait)
	for backoff.Sleep(ctx, warmPoll) == nil {
		if _, err := os.Lstat(w.File); err == nil && time.Now().Before(deadline) {
			continue // the child has not begun, or still reads
		}
		if removeOffer(w.File) == nil {
			return true
		}
	}
	return removeOffer(w.File) == nil
}

var errOfferInUse = errors.New("a process holds the lock of the offer")

// removeOffer deletes an offer. It fails while a child reads.
func removeOffer(path string) error {
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY)) // creates no file
	switch held, err := lock.TryLock(); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !held:
		return errOfferInUse
	}
	return errors.Join(os.Remove(path), lock.Close())
}

// removeOffers waits for the children that still read the files of an earlier process of this
// version, which must not change before.
func removeOffers(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, warmRead+2*time.Second)
	defer cancel()
	for {
		offers, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		offers = slices.DeleteFunc(offers, func(e os.DirEntry) bool { return removeOffer(filepath.Join(dir, e.Name())) == nil })
		if len(offers) == 0 {
			return nil
		}
		if backoff.Sleep(ctx, warmPoll) != nil {
			return svc.Errorf(svc.Unavailable, svc.CodeDataInUse, "a child still reads the version's files").
				WithHint("try again in a few seconds").Because(context.Cause(ctx))
		}
	}
}

// warmReader reads the files of a parent's offer.
type warmReader struct {
	offer warm
	lock  *flock.Flock
	end   *time.Timer

	mu       sync.Mutex // guards the fields below
	closing  bool       // no database may start any more
	released map[string]bool
	pages    []*warmPages
}

// newWarmReader accepts the offer in text, if it still exists.
func newWarmReader(text string) (*warmReader, error) {
	r := &warmReader{released: map[string]bool{}}
	if err := json.Unmarshal([]byte(text), &r.offer); err != nil {
		return nil, fmt.Errorf("read the parent's offer: %w", err)
	}
	r.lock = flock.New(r.offer.File, flock.SetFlag(os.O_RDONLY))
	if err := r.enter(); err != nil {
		return nil, errors.Join(err, r.lock.Close())
	}
	r.end = time.AfterFunc(warmRead, r.releaseAll)
	return r, nil
}

// enter locks the offer, and checks that it was not deleted before.
func (r *warmReader) enter() error {
	switch held, err := r.lock.TryRLock(); {
	case err != nil:
		return err
	case !held:
		return errOfferInUse
	}
	mine, err := r.lock.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(r.offer.File)
	if err == nil && !os.SameFile(mine, now) {
		err = fs.ErrNotExist
	}
	return err
}

// release ends the use of one database's files. The last call closes the reader.
func (r *warmReader) release(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, offered := r.offer.Databases[name]; !offered || r.released[name] {
		return
	}
	r.released[name] = true
	if len(r.released) == len(r.offer.Databases) {
		r.close()
	}
}

// releaseAll closes the reader: no page is read from the parent's files after it.
func (r *warmReader) releaseAll() {
	r.mu.Lock()
	r.closing = true
	pages := r.pages
	r.mu.Unlock()
	for _, p := range pages {
		p.close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.released) < len(r.offer.Databases) {
		for name := range r.offer.Databases {
			r.released[name] = true
		}
		r.close()
	}
}

// close deletes the offer and releases its lock. The caller holds mu.
func (r *warmReader) close() {
	r.end.Stop()
	_ = os.Remove(r.offer.File) // the parent need not wait any more
	_ = r.lock.Close()          // releases the lock in any case
}

// start clones the database's file from the parent's where the filesystem shares blocks, and
// returns nil. Elsewhere it returns the pages of the parent's file. After an error the log is used.
// The reader does not close meanwhile.
func (r *warmReader) start(ctx context.Context, db *database) (*warmPages, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	offered, ok := r.offer.Databases[db.name]
	switch {
	case !ok, r.closing, r.released[db.name], db.base == nil, uint64(offered.TXID) != db.base.TXID:
		return nil, errNotOffered
	case offered.TXID == 0: // never written to: it has no pages
		return nil, errNotOffered
	}
	cut, err := cowvfs.OpenCut(offered)
	if err != nil {
		return nil, err
	}
	if _, err := cut.Clone(ctx, db.path, true); err == nil {
		return nil, cut.Close()
	}
	p := &warmPages{db: db, reader: r, size: cut.PageSize(), count: cut.Pages(), cut: cut}
	r.pages = append(r.pages, p)
	return p, nil
}

var errNotOffered = errors.New("the parent does not offer its file")

// warmPages are the pages of the parent's file and, after close, those of the log.
type warmPages struct {
	db     *database
	reader *warmReader
	size   int
	count  uint32

	mu  sync.RWMutex // held while pages are read
	cut *cowvfs.CutSource

	once sync.Mutex // guards cold
	cold cowvfs.Source
}

func (p *warmPages) PageSize() int { return p.size }
func (p *warmPages) Pages() uint32 { return p.count }

// ReadPages reads n pages from page first.
func (p *warmPages) ReadPages(ctx context.Context, first uint32, n int) ([]byte, error) {
	p.mu.RLock()
	if p.cut != nil {
		defer p.mu.RUnlock()
		return p.cut.ReadPages(ctx, first, n)
	}
	p.mu.RUnlock()
	cold, err := p.fromLog(ctx)
	if err != nil {
		return nil, err
	}
	return cold.ReadPages(ctx, first, n)
}

func (p *warmPages) fromLog(ctx context.Context) (cowvfs.Source, error) { //nolint:ireturn // what the interface is for
	p.once.Lock()
	defer p.once.Unlock()
	if p.cold == nil {
		src, err := p.db.source(ctx, replica.TXID(p.db.base.TXID))
		if err != nil {
			return nil, err
		}
		p.cold = src
	}
	return p.cold, nil
}

// close ends the use of the parent's file.
func (p *warmPages) close() {
	p.mu.Lock()
	if p.cut != nil {
		_ = p.cut.Close() // a reader has nothing to lose
		p.cut = nil
	}
	p.mu.Unlock()
	p.reader.release(p.db.name)
}

// Warm reports whether the version began with files of its parent.
func (v *Volumes) Warm() bool {
	v.claiming.Lock()
	defer v.claiming.Unlock()
	return v.warmReader != nil
}

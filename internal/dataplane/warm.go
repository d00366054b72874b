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
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/cowvfs"
	"github.com/svcctl/svcctl/internal/replica"
	"github.com/svcctl/svcctl/internal/svc"
)

// A child on the machine of its parent may begin with the parent's files instead
// of the object store's. For that the parent holds them: it copies no WAL into a
// database meanwhile. The two agree by a file in the parent's directory, without
// a word between the processes: the child locks it while it reads, and the parent
// removes it, under a lock that excludes the child's, before it lets go. A child
// that comes too late finds no file; one that dies is unlocked by the kernel.

const (
	warmDir = "warm"
	// warmWait is how long a parent holds its files for a child to come.
	warmWait = 10 * time.Second
	// warmRead is how long a child reads them: the parent's WAL grows meanwhile.
	warmRead = 10 * time.Second
	warmPoll = 200 * time.Millisecond
)

// warm is what a parent offers.
type warm struct {
	File   string                `json:"file"`
	Stores map[string]cowvfs.Cut `json:"stores"`
}

// offer holds the files of stores at the moment that was staged, and says so to
// whoever reads the answer; "" when there is nothing to offer. The caller keeps
// writers away.
func (v *Volumes) offer(ctx context.Context, stores []*store) string {
	w := warm{Stores: map[string]cowvfs.Cut{}}
	var releases []func()
	for _, s := range stores {
		cut, release, err := s.file.Hold(ctx)
		if err != nil { // pages are missing here: the child has the object store
			continue
		}
		w.Stores[s.name] = cut
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
		v.cfg.Logger.WarnContext(ctx, "no files are offered to a child", "error", err)
		release()
		return ""
	}
	v.work.Go(func() {
		if w.await(v.background) {
			release()
		} // else this process ends; the next one waits for the child, see cache.open
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

// await returns true once no child reads the files any more, or none came in
// time, and false when ctx ends before.
func (w *warm) await(ctx context.Context) bool {
	patience := time.Now().Add(warmWait)
	for sleep(ctx, warmPoll) {
		if _, err := os.Lstat(w.File); err == nil && time.Now().Before(patience) {
			continue // the child has yet to come, or to end
		}
		if withdraw(w.File) == nil {
			return true
		}
	}
	return withdraw(w.File) == nil
}

// withdraw takes an offer back, unless a child reads.
func withdraw(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	return os.Remove(path)
}

// withdrawAll waits for the children that still read what an earlier process of
// this version offered: nothing may be written into its files before.
func withdrawAll(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, warmRead+2*time.Second)
	defer cancel()
	for {
		offers, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		offers = slices.DeleteFunc(offers, func(e os.DirEntry) bool { return withdraw(filepath.Join(dir, e.Name())) == nil })
		if len(offers) == 0 {
			return nil
		}
		if !sleep(ctx, warmPoll) {
			return svc.Errorf(svc.Unavailable, "data_in_use", "a branch still reads the version's files").
				WithHint("it stops by itself; try again").Because(context.Cause(ctx))
		}
	}
}

// visit is a child's use of its parent's offer.
type visit struct {
	offer warm
	lock  *os.File
	end   *time.Timer

	mu    sync.Mutex // guards what follows
	over  bool       // or about to be: nobody starts any more
	left  map[string]bool
	pages []*warmPages
}

// visit takes the offer that text holds, if it still stands.
func newVisit(text string) (*visit, error) {
	v := &visit{left: map[string]bool{}}
	if err := json.Unmarshal([]byte(text), &v.offer); err != nil {
		return nil, fmt.Errorf("reading the parent's offer: %w", err)
	}
	var err error
	if v.lock, err = os.Open(v.offer.File); err != nil {
		return nil, err
	}
	if err := v.enter(); err != nil {
		return nil, errors.Join(err, v.lock.Close())
	}
	v.end = time.AfterFunc(warmRead, v.leaveAll)
	return v, nil
}

// enter locks the offer, and makes sure that it was not withdrawn before.
func (v *visit) enter() error {
	if err := syscall.Flock(int(v.lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return err
	}
	mine, err := v.lock.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(v.offer.File)
	if err == nil && !os.SameFile(mine, now) {
		err = fs.ErrNotExist
	}
	return err
}

// leave ends the use of one store's files. The last one ends the visit.
func (v *visit) leave(store string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, offered := v.offer.Stores[store]; !offered || v.left[store] {
		return
	}
	v.left[store] = true
	if len(v.left) == len(v.offer.Stores) {
		v.close()
	}
}

// leaveAll ends the visit: no page is read from the parent's files after it.
func (v *visit) leaveAll() {
	v.mu.Lock()
	v.over = true
	pages := v.pages
	v.mu.Unlock()
	for _, p := range pages {
		p.retire()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.left) < len(v.offer.Stores) {
		for name := range v.offer.Stores {
			v.left[name] = true
		}
		v.close()
	}
}

// close needs mu.
func (v *visit) close() {
	v.end.Stop()
	_ = os.Remove(v.offer.File) // tells the parent that it need not wait
	_ = v.lock.Close()          // gives the lock back, whatever it says
}

// start makes the store's own file of the parent's where the filesystem shares
// blocks: then it returns nil. Elsewhere it gives the pages of the parent's file.
// Any error means that the log has to do. Meanwhile the visit does not end.
func (v *visit) start(ctx context.Context, s *store) (*warmPages, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	offered, ok := v.offer.Stores[s.name]
	switch {
	case !ok, v.over, v.left[s.name], s.base == nil, uint64(offered.TXID) != s.base.TXID:
		return nil, errNotOffered
	case offered.TXID == 0: // it was never written to, and has no pages
		return nil, errNotOffered
	}
	cut, err := cowvfs.OpenCut(offered)
	if err != nil {
		return nil, err
	}
	if _, err := cut.Clone(ctx, s.path, true); err == nil {
		return nil, cut.Close()
	}
	p := &warmPages{store: s, visit: v, size: cut.PageSize(), count: cut.Pages(), cut: cut}
	v.pages = append(v.pages, p)
	return p, nil
}

var errNotOffered = errors.New("the parent does not offer its file")

// warmPages are the pages of the parent's file, and once that must not be read
// any more those of the log.
type warmPages struct {
	store *store
	visit *visit
	size  int
	count uint32

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
		src, err := p.store.source(ctx, replica.TXID(p.store.base.TXID))
		if err != nil {
			return nil, err
		}
		p.cold = src
	}
	return p.cold, nil
}

// retire ends the use of the parent's file.
func (p *warmPages) retire() {
	p.mu.Lock()
	if p.cut != nil {
		_ = p.cut.Close() // it only read
		p.cut = nil
	}
	p.mu.Unlock()
	p.visit.leave(p.store.name)
}

// Warm reports whether the version began with files of its parent.
func (v *Volumes) Warm() bool {
	v.owning.Lock()
	defer v.owning.Unlock()
	return v.visit != nil
}

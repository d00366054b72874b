package cowvfs

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/superfly/ltx"
	lib "modernc.org/sqlite/lib"
)

// capture follows the WAL of one file: which page is in which frame, how many
// frames are committed, and how many of those are staged. What is committed is
// what the engine's wal-index says when a writer gives the write lock back, not
// what looks valid in the file: the frames of a commit whose fsync failed do.
type capture struct {
	wal    string // path of the WAL
	base   baseFile
	store  stage
	notify func()

	staging sync.Mutex // held while frames become a segment, and while the WAL begins anew

	mu     sync.Mutex // guards what follows
	gen    generation
	pages  []uint32   // the page in each frame of gen, committed or not; 0 is unknown
	done   int        // frames that are committed
	size   uint32     // of the database, in pages, at the last of them
	staged int        // frames that are in a segment
	last   ltx.Header // of the newest segment, or of what there was before the first
	queue  []Segment  // staged and not shipped
	taken  int        // how many of queue were handed out
	lost   error      // why it is not known what is committed
}

// baseFile is the database file without its WAL.
type baseFile interface {
	readPage(page uint32, b []byte) error
	pageSize() (uint32, error)
	pages() (uint32, error)
}

// openCapture takes up where the last process left off, or begins at first,
// which is what a file that was never attached holds.
func openCapture(path string, base baseFile, first ltx.Header, notify func()) (*capture, error) {
	c := &capture{wal: path + "-wal", base: base, store: stage{dir: path + "-ltx"}, notify: notify}
	var err error
	if c.last, c.queue, err = c.store.open(); err != nil {
		return nil, err
	}
	img, err := readWAL(c.wal)
	if err != nil {
		return nil, err
	}
	if c.last.MaxTXID == 0 && first.MaxTXID != 0 {
		if len(img.pages) > 0 {
			return nil, fmt.Errorf("%s has frames of unknown origin: %w", c.wal, ErrBehind)
		}
		if err := c.store.keep(first); err != nil {
			return nil, err
		}
		c.last = first
	}
	if c.last.MaxTXID < first.MaxTXID {
		return nil, fmt.Errorf("%s ends at transaction %s, the store at %s: %w", path, c.last.MaxTXID, first.MaxTXID, ErrBehind)
	}
	return c, c.resume(img)
}

// resume finds the frames that are staged among those of the WAL.
func (c *capture) resume(img walImage) error {
	c.gen, c.pages, c.done, c.size, c.staged = img.generation, img.pages, img.committed, img.size, 0
	s1, s2 := img.salts.words()
	if img.pageSize == 0 || s1 != c.last.WALSalt1 || s2 != c.last.WALSalt2 {
		return nil // all of an earlier generation was staged before this one began
	}
	if c.staged = img.index(c.last.WALOffset + c.last.WALSize); c.staged < 0 || c.staged > c.done {
		return fmt.Errorf("%s lacks frames of transaction %s: %w", c.wal, c.last.MaxTXID, ErrBehind)
	}
	return nil
}

// frame notes that the frame at off is about to be written. Only the holder of
// the write lock does that.
func (c *capture) frame(off int64, head []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.gen.index(off)
	if i < c.done {
		return // -1: no header was seen, endWrite will say so
	}
	for len(c.pages) <= i {
		c.pages = append(c.pages, 0)
	}
	c.pages[i] = be32(head)
}

// committed notes what the wal-index says at the end of a write, and reports
// whether there is something new to take.
func (c *capture) committed(h indexHeader) (bool, error) {
	fresh, known := c.follow(h)
	if known {
		return fresh, nil
	}
	c.staging.Lock()
	defer c.staging.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	return true, c.reread(h)
}

func (c *capture) follow(h indexHeader) (fresh, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.frames == 0 || h.salts == c.gen.salts && h.frames == c.done {
		return false, true // nothing was committed, or the WAL has yet to begin anew
	}
	if h.salts != c.gen.salts || h.frames < c.done || h.frames > len(c.pages) || slices.Contains(c.pages[c.done:h.frames], 0) {
		return false, false
	}
	c.done, c.size = h.frames, h.size
	return true, true
}

// reread learns from the WAL itself what h says is committed: a WAL that was
// thought to be gone is still there. The caller holds staging and mu.
func (c *capture) reread(h indexHeader) error {
	img, err := readWAL(c.wal)
	if err == nil && (img.salts != h.salts || len(img.pages) < h.frames) {
		err = fmt.Errorf("the WAL has %d frames, the wal-index %d", len(img.pages), h.frames)
	}
	if err == nil {
		img.committed, img.size = h.frames, h.size
		err = c.resume(img)
	}
	if err != nil {
		c.lost = fmt.Errorf("%w: %w", errLost, err)
	}
	return c.lost
}

// reset stages what is committed, lets the WAL lose it by fn and takes header,
// which may be nil, for its new one. When staging fails fn is not called.
func (c *capture) reset(header []byte, fn func() int32) (int32, error) {
	c.staging.Lock()
	defer c.staging.Unlock()
	if err := c.stageLocked(); err != nil {
		return 0, err
	}
	g, _ := parseGeneration(header)
	c.mu.Lock()
	c.gen, c.pages, c.done, c.staged = generation{}, c.pages[:0], 0, 0
	c.mu.Unlock()
	rc := fn()
	if rc == lib.SQLITE_OK {
		c.mu.Lock()
		c.gen = g
		c.mu.Unlock()
	}
	return rc, nil
}

// take hands out the oldest segment that was not handed out, staging one if
// there is none.
func (c *capture) take() (Segment, bool, error) {
	c.staging.Lock()
	defer c.staging.Unlock()
	if s, ok := c.next(); ok {
		return s, true, nil
	}
	if err := c.stageLocked(); err != nil {
		return Segment{}, false, err
	}
	s, ok := c.next()
	return s, ok, nil
}

// stage is take that hands nothing out.
func (c *capture) stage() error {
	c.staging.Lock()
	defer c.staging.Unlock()
	return c.stageLocked()
}

// seal is take that makes a segment in any case.
func (c *capture) seal() (Segment, error) {
	s, ok, err := c.take()
	if err != nil || ok {
		return s, err
	}
	c.staging.Lock()
	defer c.staging.Unlock()
	if err := c.stageSame(); err != nil {
		return Segment{}, err
	}
	s, _ = c.next()
	return s, nil
}

func (c *capture) next() (Segment, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken == len(c.queue) {
		return Segment{}, false
	}
	c.taken++
	return c.queue[c.taken-1], true
}

// shipped forgets the segments up to id.
func (c *capture) shipped(id ltx.TXID) error {
	c.staging.Lock()
	defer c.staging.Unlock()
	c.mu.Lock()
	n := 0
	for n < len(c.queue) && c.queue[n].TXID <= id {
		n++
	}
	gone := c.queue[:n]
	c.mu.Unlock()
	if n == 0 {
		return nil
	}
	// What is left, if anything, must follow the position.
	h, err := readHeader(gone[n-1].Path)
	if err == nil {
		err = c.store.keep(h)
	}
	if err != nil {
		return err
	}
	for _, s := range gone {
		if err := os.Remove(s.Path); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue, c.taken = append([]Segment(nil), c.queue[n:]...), max(c.taken-n, 0)
	return nil
}

// status is what File reports of a capture.
func (c *capture) status() (newest ltx.TXID, pending bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.MaxTXID, c.done > c.staged || c.taken < len(c.queue)
}

package cowvfs

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/superfly/ltx"
	lib "modernc.org/sqlite/lib"
)

// capture follows the WAL of one file: the page in each frame, the number of committed
// frames, and the number of staged ones. It takes the committed frames from the engine's
// wal-index when a writer releases the write lock, not from the file: frames of a commit
// whose fsync failed look valid there.
type capture struct {
	wal      string // path of the WAL
	base     baseFile
	segments stage
	notify   func()
	clock    func() Stamp // of segments that end at no Moment; nil: the time of the system

	staging sync.Mutex // held while frames become a segment, and while the WAL restarts

	mu     sync.Mutex // guards the fields below
	gen    generation
	pages  []uint32   // the page in each frame of gen, committed or not; 0 is unknown
	done   int        // committed frames
	size   uint32     // of the database, in pages, at the last of them
	staged int        // frames that are in a segment
	marks  []mark     // ends of segments after staged, in order
	last   ltx.Header // of the newest segment, or of the state before the first
	queue  []Segment  // staged and not shipped
	taken  int        // how many of queue were returned
	lost   error      // why the committed frames are unknown
}

// baseFile is the database file without its WAL.
type baseFile interface {
	readPage(page uint32, b []byte) error
	pageSize() (uint32, error)
	pages() (uint32, error)
}

// openCapture continues where the last process ended, or begins at first, which is the state
// of a file that was never attached.
func openCapture(path string, base baseFile, first ltx.Header, o Capture) (*capture, error) {
	c := &capture{wal: path + "-wal", base: base, segments: stage{dir: path + "-ltx"}, notify: o.Notify, clock: o.Clock}
	var err error
	if c.last, c.queue, err = c.segments.open(); err != nil {
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
		if err := c.segments.keep(first); err != nil {
			return nil, err
		}
		c.last = first
	}
	if c.last.MaxTXID < first.MaxTXID {
		return nil, fmt.Errorf("%s ends at transaction %s, the log at %s: %w", path, c.last.MaxTXID, first.MaxTXID, ErrBehind)
	}
	return c, c.resume(img)
}

// resume finds the staged frames among those of the WAL.
func (c *capture) resume(img walImage) error {
	c.gen, c.pages, c.done, c.size, c.staged = img.generation, img.pages, img.committed, img.size, 0
	s1, s2 := img.salts.words()
	if img.pageSize == 0 || s1 != c.last.WALSalt1 || s2 != c.last.WALSalt2 {
		return nil // an earlier generation was staged completely before this one began
	}
	if c.staged = img.index(c.last.WALOffset + c.last.WALSize); c.staged < 0 || c.staged > c.done {
		return fmt.Errorf("%s lacks frames of transaction %s: %w", c.wal, c.last.MaxTXID, ErrBehind)
	}
	return nil
}

// frame records that the frame at off is about to be written. Only the holder of the write
// lock calls it.
func (c *capture) frame(off int64, head []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.gen.index(off)
	if i < c.done {
		return // -1: the header is unknown, which endWrite reports
	}
	for len(c.pages) <= i {
		c.pages = append(c.pages, 0)
	}
	c.pages[i] = be32(head)
}

// committed records the wal-index at the end of a write, and reports whether it has new
// frames.
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
		return false, true // nothing was committed, or the WAL is about to restart
	}
	if h.salts != c.gen.salts || h.frames < c.done || h.frames > len(c.pages) || slices.Contains(c.pages[c.done:h.frames], 0) {
		return false, false
	}
	c.done, c.size = h.frames, h.size
	return true, true
}

// reread reads the frames that h calls committed from the WAL itself, which exists although
// its end was expected. The caller holds staging and mu.
func (c *capture) reread(h indexHeader) error {
	c.marks = nil // a segment may get the time of none: its Moment is not complete then
	img, err := readWAL(c.wal)
	if err == nil && (img.salts != h.salts || len(img.pages) < h.frames) {
		err = fmt.Errorf("the WAL has %d frames, but the wal-index %d", len(img.pages), h.frames)
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

// reset stages the committed frames, lets the WAL lose them by fn and takes header, which
// may be nil, as its new one. When staging fails it does not call fn.
func (c *capture) reset(header []byte, fn func() int32) (int32, error) {
	c.staging.Lock()
	defer c.staging.Unlock()
	if err := c.stageLocked(); err != nil {
		return 0, err
	}
	g, _ := parseGeneration(header)
	c.mu.Lock()
	c.gen, c.pages, c.done, c.staged, c.marks = generation{}, c.pages[:0], 0, 0, nil
	c.mu.Unlock()
	rc := fn()
	if rc == lib.SQLITE_OK {
		c.mu.Lock()
		c.gen = g
		c.mu.Unlock()
	}
	return rc, nil
}

// next returns the oldest segment that was not returned, and stages one if necessary.
func (c *capture) next() (Segment, bool, error) {
	c.staging.Lock()
	defer c.staging.Unlock()
	if s, ok := c.dequeue(); ok {
		return s, true, nil
	}
	if err := c.stageLocked(); err != nil {
		return Segment{}, false, err
	}
	s, ok := c.dequeue()
	return s, ok, nil
}

// stage is next without returning the segment.
func (c *capture) stage() error {
	c.staging.Lock()
	defer c.staging.Unlock()
	return c.stageLocked()
}

// claimSegment is next, but always makes a segment.
func (c *capture) claimSegment() (Segment, error) {
	s, ok, err := c.next()
	if err != nil || ok {
		return s, err
	}
	c.staging.Lock()
	defer c.staging.Unlock()
	if err := c.stageEmpty(c.now()); err != nil {
		return Segment{}, err
	}
	s, _ = c.dequeue()
	return s, nil
}

func (c *capture) dequeue() (Segment, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken == len(c.queue) {
		return Segment{}, false
	}
	c.taken++
	return c.queue[c.taken-1], true
}

// shipped deletes the segments up to id.
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
		err = c.segments.keep(h)
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

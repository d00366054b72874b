package cowvfs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/superfly/ltx"
)

// ErrPartial says that pages of a file are missing, so that another file cannot begin
// with it.
var ErrPartial = errors.New("pages of the database are not in the local file")

// Cut is one state of an attached file: the database file and the first frames of its WAL,
// which stay unchanged while the file is held. It can be sent to another process of the
// machine.
type Cut struct {
	TXID     ltx.TXID `json:"txid"`
	Path     string   `json:"path"`
	PageSize uint32   `json:"page_size"`
	Pages    uint32   `json:"pages"`  // of the database
	Frames   int      `json:"frames"` // of the WAL at Path-wal
}

// Hold returns the cut at the newest segment. Until release is called, the engine neither
// copies the WAL into the database file nor restarts the WAL. Writers continue and the WAL
// grows, so hold no longer than a copy takes. No writer may run during Hold itself, and
// every committed transaction must be staged. Hold returns ErrPartial when pages are
// missing.
func (f *File) Hold(ctx context.Context) (cut Cut, release func(), err error) {
	switch {
	case f.capture == nil:
		return cut, nil, errors.New("the file is not captured")
	case !f.Hydrated():
		return cut, nil, ErrPartial
	}
	for {
		f.mu.Lock()
		if f.checkpoints == 0 {
			break
		}
		if f.quiet == nil {
			f.quiet = make(chan struct{})
		}
		quiet := f.quiet
		f.mu.Unlock()
		select {
		case <-quiet:
		case <-ctx.Done():
			return cut, nil, ctx.Err()
		}
	}
	defer f.mu.Unlock()
	if cut, err = f.capture.cut(f.path); err != nil {
		return cut, nil, err
	}
	if f.copied {
		cut.Frames = 0
	}
	return cut, f.keep(cut.Frames > 0), nil
}

// keep counts a hold. The caller holds mu.
func (f *File) keep(wal bool) (release func()) {
	f.holds++
	if wal {
		f.walHolds++
	}
	released := false
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if released {
			return
		}
		released = true
		f.holds--
		if wal {
			f.walHolds--
		}
	}
}

func (c *capture) cut(path string) (Cut, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done != c.staged {
		return Cut{}, fmt.Errorf("hold %[2]s: %[1]d committed frames are not staged", c.done-c.staged, c.wal)
	}
	return Cut{TXID: c.last.MaxTXID, Path: path, PageSize: c.last.PageSize, Pages: c.last.Commit, Frames: c.done}, nil
}

// CutSource reads a Cut. Open it in another process than the one that has the file attached,
// or with the engine's OFD locking on: closing it would release the engine's POSIX locks on
// the file.
type CutSource struct {
	cut    Cut
	db     *os.File
	wal    *os.File       // nil when the cut has no frames
	frames map[uint32]int // the newest frame of each page
	gen    generation
}

var _ Source = (*CutSource)(nil)

// OpenCut opens the cut of a file that is held.
func OpenCut(c Cut) (*CutSource, error) {
	s := &CutSource{cut: c, frames: map[uint32]int{}}
	err := s.open()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open cut %s of %s: %w", c.TXID, c.Path, err), s.Close())
	}
	return s, nil
}

func (s *CutSource) open() (err error) {
	if s.db, err = os.Open(s.cut.Path); err != nil || s.cut.Frames == 0 {
		return err
	}
	if s.wal, err = os.Open(s.cut.Path + "-wal"); err != nil {
		return err
	}
	var head [walHeaderSize]byte
	if _, err := s.wal.ReadAt(head[:], 0); err != nil {
		return err
	}
	var ok bool
	if s.gen, ok = parseGeneration(head[:]); !ok || s.gen.pageSize != s.cut.PageSize {
		return errors.New("the WAL does not belong to the cut")
	}
	for i := range s.cut.Frames {
		b := head[:frameHeaderSize]
		if _, err := s.wal.ReadAt(b, s.gen.offset(i)); err != nil {
			return err
		}
		if salts(b[8:16]) != s.gen.salts {
			return errors.New("the WAL has fewer frames than the cut")
		}
		s.frames[binary.BigEndian.Uint32(b)] = i
	}
	return nil
}

// Close closes the files.
func (s *CutSource) Close() error {
	var errs []error
	for _, f := range []*os.File{s.db, s.wal} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// PageSize is the length of a page in bytes.
func (s *CutSource) PageSize() int { return int(s.cut.PageSize) }

// Pages is the number of pages of the cut.
func (s *CutSource) Pages() uint32 { return s.cut.Pages }

// ReadPages reads n pages from page first.
func (s *CutSource) ReadPages(ctx context.Context, first uint32, n int) ([]byte, error) {
	size := int64(s.cut.PageSize)
	b := make([]byte, int64(n)*size)
	if _, err := s.db.ReadAt(b, int64(first-1)*size); err != nil && !errors.Is(err, io.EOF) {
		return nil, err // pages after the end are in the WAL, or zero
	}
	for page := first; int64(page) < int64(first)+int64(n) && len(s.frames) > 0; page++ {
		i, ok := s.frames[page]
		if !ok {
			continue
		}
		at := int64(page-first) * size
		if _, err := s.wal.ReadAt(b[at:at+size], s.gen.offset(i)+frameHeaderSize); err != nil {
			return nil, err
		}
	}
	return b, ctx.Err()
}

// Clone makes a database file of the cut at path. Where the filesystem shares blocks, the
// time does not depend on the size of the file and shared is true. Elsewhere Clone copies
// the file or, with onlyShared, returns errors.ErrUnsupported.
func (s *CutSource) Clone(ctx context.Context, path string, onlyShared bool) (shared bool, err error) {
	tmp := path + ".tmp"
	out, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return false, err
	}
	shared, err = s.cloneTo(ctx, out, onlyShared)
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return false, errors.Join(fmt.Errorf("clone %s: %w", s.cut.Path, err), os.Remove(tmp))
	}
	return shared, nil
}

func (s *CutSource) cloneTo(ctx context.Context, out *os.File, onlyShared bool) (shared bool, err error) {
	err = shareBlocks(out, s.db)
	shared = err == nil
	if !shared {
		if onlyShared {
			return false, err
		}
		if _, err := s.db.Seek(0, io.SeekStart); err != nil {
			return false, err
		}
		if _, err := io.Copy(out, s.db); err != nil { // in the kernel if possible
			return false, err
		}
	}
	for page := range s.frames {
		if page > s.cut.Pages {
			continue
		}
		b, err := s.ReadPages(ctx, page, 1)
		if err != nil {
			return false, err
		}
		if _, err := out.WriteAt(b, int64(page-1)*int64(s.cut.PageSize)); err != nil {
			return false, err
		}
	}
	return shared, out.Truncate(int64(s.cut.Pages) * int64(s.cut.PageSize))
}

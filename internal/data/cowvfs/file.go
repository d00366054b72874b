package cowvfs

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/superfly/ltx"
)

// The errors that callers distinguish.
var (
	// ErrBehind says that the local files lack transactions of the log, or do not
	// belong together: they must be deleted and restored from the object store.
	ErrBehind = errors.New("the local database does not continue the log")
	// ErrInUse says that connections are open, or that the file is already attached.
	ErrInUse = errors.New("the database is in use")

	errLost   = errors.New("the committed transactions are unknown")
	errHeld   = errors.New("the database file is held")
	errNotWAL = errors.New("a captured database can only be written through its WAL")
	errSync   = errors.New("the file could not be synced")
)

// Source is the image that a file is filled from: that of the transaction at which the
// file was first attached, or of any later one that is in the local file or its WAL. Many
// goroutines call it.
type Source interface {
	// PageSize is the length of a page in bytes.
	PageSize() int
	// Pages is the number of pages of the image.
	Pages() uint32
	// ReadPages returns n pages from page first, which counts from 1. All of them are
	// in the image. The caller may keep the slice.
	ReadPages(ctx context.Context, first uint32, n int) ([]byte, error)
}

// The defaults of Options.
const (
	DefaultReadahead    = 16
	DefaultFaultTimeout = 30 * time.Second
)

// Options are options of Attach.
type Options struct {
	Path         string
	Source       Source        // of missing pages; nil when the file is complete, or new
	Capture      *Capture      // nil when changes are not captured
	Readahead    uint32        // pages to read when one is missing; 0 = DefaultReadahead
	FaultTimeout time.Duration // how long a query waits for a missing page; 0 = DefaultFaultTimeout
	Logger       *slog.Logger  // for errors that the engine can only report as SQLITE_IOERR; nil = none
	// WALRoom, if not nil, returns how many bytes the WAL may have. A write beyond that is
	// SQLITE_FULL and ends its transaction. It is called on the writer's goroutine, once for
	// each walStep that the WAL grows, and must not use the connection.
	WALRoom func() int64
}

// Capture configures the capture of a file.
type Capture struct {
	// TXID is the newest transaction of the log, 0 for none. When the file is first
	// attached, the file or its Source must be at TXID; later the local files must
	// have at least TXID.
	TXID ltx.TXID
	// Notify, if not nil, is called after a commit, on the writer's goroutine. It
	// must not block and not use the connection.
	Notify func()
	// Clock, if not nil, gives the headers of segments that end at no Moment their stamps. It must
	// not block and not use the file.
	Clock func() Stamp
}

// File is an attached database file. Its methods may be called from any goroutine.
type File struct {
	path    string
	db      *os.File // stays open: closing any descriptor of the file releases the engine's locks on it
	layer   *layer   // nil when the file was complete
	capture *capture // nil when nothing is captured
	logger  *slog.Logger
	cancel  context.CancelFunc
	walRoom func() int64 // nil: no limit
	walMay  int64        // how many bytes walRoom has allowed; only the holder of the write lock uses it
	walSize atomic.Int64 // of the WAL's file

	mu          sync.Mutex // guards the fields below
	conns       map[*conn]struct{}
	checkpoints int           // checkpoints in progress
	quiet       chan struct{} // closed when no checkpoint is in progress; nil when no goroutine waits for that
	holds       int           // cuts that need the database file unchanged
	walHolds    int           // those that need the WAL too
	copied      bool          // all of the WAL is in the database file, and the next write may restart it
}

// Attach prepares the file for connections through the VFS called Name. The Source gets
// the values of ctx, not its cancellation. Until Detach no other VFS and no other process
// may open the file. Attach returns ErrBehind or ErrInUse.
func Attach(ctx context.Context, o Options) (*File, error) {
	f := &File{logger: o.Logger, walRoom: o.WALRoom, conns: map[*conn]struct{}{}}
	if f.logger == nil {
		f.logger = slog.New(slog.DiscardHandler)
	}
	if err := f.attach(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("attach %s: %w", o.Path, err), f.close())
	}
	return f, nil
}

func (f *File) attach(ctx context.Context, o Options) (err error) {
	if err := theEngine.register(); err != nil {
		return err
	}
	if f.path, err = realPath(o.Path); err != nil {
		return err
	}
	if err := f.openFile(ctx, o); err != nil {
		return err
	}
	if info, err := os.Stat(f.path + "-wal"); err == nil {
		f.walSize.Store(info.Size())
	}
	if o.Capture != nil {
		if err := f.openCapture(*o.Capture); err != nil {
			return err
		}
	}
	theEngine.mu.Lock()
	defer theEngine.mu.Unlock()
	if theEngine.files[f.path] != nil {
		return ErrInUse
	}
	theEngine.files[f.path] = f
	return nil
}

// realPath is the name of path in the engine.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// openFile opens the file and, if pages of it are missing, its layer.
func (f *File) openFile(ctx context.Context, o Options) error {
	mapPath := f.path + "-pages"
	bits, partial, err := openBitmap(mapPath)
	if err != nil {
		return err
	}
	if !partial && o.Source != nil {
		if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
			size := uint32(o.Source.PageSize()) //nolint:gosec // at most 65536
			if bits, err = newBitmap(mapPath, size, o.Source.Pages()); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
	}
	if f.db, err = os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil || bits == nil {
		return err
	}
	return f.openLayer(ctx, o, bits)
}

func (f *File) openLayer(ctx context.Context, o Options, bits *bitmap) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	timeout := cmp.Or(o.FaultTimeout, DefaultFaultTimeout)
	f.cancel = cancel
	f.layer = &layer{
		file: f.db, bits: bits, src: o.Source, readahead: o.Readahead, flights: map[uint32]*flight{},
		bound: func() (context.Context, context.CancelFunc) { return context.WithTimeout(base, timeout) },
	}
	if o.Readahead == 0 {
		f.layer.readahead = DefaultReadahead
	}
	switch {
	case o.Source == nil:
		return fmt.Errorf("%d pages are missing, but no source was given", bits.missing())
	case o.Source.PageSize() != int(bits.pageSize):
		return fmt.Errorf("pages have %d bytes, but those of the source %d", bits.pageSize, o.Source.PageSize())
	}
	info, err := f.db.Stat()
	if err != nil || info.Size() > 0 {
		return err
	}
	return f.db.Truncate(int64(bits.pages) * int64(bits.pageSize))
}

func (f *File) openCapture(o Capture) error {
	first := ltx.Header{Version: ltx.Version, Flags: ltx.HeaderFlagNoChecksum, MinTXID: o.TXID, MaxTXID: o.TXID}
	if o.TXID != 0 {
		var err error
		if first.PageSize, err = f.pageSize(); err != nil {
			return err
		}
		if first.Commit, err = f.pages(); err != nil {
			return err
		}
	}
	c, err := openCapture(f.path, f, first, o)
	f.capture = c
	return err
}

// pageSize is the page size of the database; 0 when it is empty.
func (f *File) pageSize() (uint32, error) {
	if f.layer != nil {
		return f.layer.bits.pageSize, nil
	}
	var b [2]byte
	if _, err := f.db.ReadAt(b[:], 16); errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("the file is empty: %w", ErrBehind)
	} else if err != nil {
		return 0, err
	}
	if n := binary.BigEndian.Uint16(b[:]); n != 1 {
		return uint32(n), nil
	}
	return 65536, nil
}

// pages is the number of pages of the database file.
func (f *File) pages() (uint32, error) {
	size, err := f.pageSize()
	if err != nil {
		return 0, err
	}
	info, err := f.db.Stat()
	if err != nil {
		return 0, err
	}
	return uint32(info.Size() / int64(size)), nil //nolint:gosec // the engine numbers pages in 32 bits
}

// readPage reads a page of the database file, without the WAL, into b. Pages after the end
// of the file are zero.
func (f *File) readPage(page uint32, b []byte) error {
	off := int64(page-1) * int64(len(b))
	if !f.Hydrated() {
		if err := f.layer.need(off, int64(len(b))); err != nil {
			return err
		}
	}
	n, err := f.db.ReadAt(b, off)
	if errors.Is(err, io.EOF) {
		clear(b[n:])
		return nil
	}
	return err
}

// Partial reports whether a database file that is not attached lacks pages, so that it
// needs a Source to be attached again.
func Partial(path string) bool {
	_, err := os.Lstat(path + "-pages")
	return err == nil
}

// Remove deletes a database file that is not attached, and the files beside it.
func Remove(path string) error {
	var errs []error
	// The map is deleted after the file: without it, holes would count as pages.
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", "-ltx", "-pages"} {
		errs = append(errs, os.RemoveAll(path+suffix))
	}
	return errors.Join(errs...)
}

// Path is the file's path, absolute and without links.
func (f *File) Path() string { return f.path }

// WALSize is the length of the WAL's file. It does not ask the file system: on Linux the first
// write after a stat changes the time in the inode, and the next sync then writes that too.
func (f *File) WALSize() int64 { return f.walSize.Load() }

// Hydrated reports whether every page is in the local file. The Source is not
// used from then on.
func (f *File) Hydrated() bool { return f.layer == nil || f.layer.done.Load() }

// Missing is the number of pages that are not in the local file.
func (f *File) Missing() int {
	if f.Hydrated() {
		return 0
	}
	return int(f.layer.bits.missing())
}

// Hydrate reads every missing page, waits while queries wait for theirs, and then makes the
// file a plain one. After an error it can be called again.
func (f *File) Hydrate(ctx context.Context, p Pace) error {
	if f.Hydrated() {
		return nil
	}
	if err := f.layer.hydrate(ctx, p); err != nil {
		return fmt.Errorf("hydrate %s: %w", f.path, err)
	}
	return nil
}

// Next returns the next segment; ok is false when every committed transaction has been
// returned. The caller ships segments in order, retries failures, and reports each to
// Shipped. After a crash Next returns the unreported segments again, unchanged.
func (f *File) Next() (s Segment, ok bool, err error) {
	if f.capture == nil {
		return Segment{}, false, nil
	}
	return f.capture.next()
}

// Stage makes a segment of the transactions that are committed and not staged, without
// returning it, and returns the newest transaction. Without a concurrent writer that is the
// state of the database.
func (f *File) Stage() (ltx.TXID, error) {
	if f.capture == nil {
		return 0, nil
	}
	err := f.capture.stage()
	return f.TXID(), err
}

// Shipped deletes the local segments up to transaction id, which are in the object store.
func (f *File) Shipped(id ltx.TXID) error {
	if f.capture == nil {
		return nil
	}
	return f.capture.shipped(id)
}

// TXID is the newest transaction that a segment has, or with which capture began. Without a
// concurrent writer, and after Next returned ok false, it is the state of the database.
func (f *File) TXID() ltx.TXID {
	if f.capture == nil {
		return 0
	}
	id, _ := f.capture.status()
	return id
}

// Pending reports whether Next would return a segment.
func (f *File) Pending() bool {
	if f.capture == nil {
		return false
	}
	_, pending := f.capture.status()
	return pending
}

// ClaimSegment is Next for an owner that must claim the log before it writes anything: if no
// segment is left it makes one that changes nothing. No transaction may be running.
func (f *File) ClaimSegment() (Segment, error) {
	if f.capture == nil {
		return Segment{}, errors.New("the file is not captured")
	}
	return f.capture.claimSegment()
}

// Detach closes the file. All connections must be closed, which makes the engine copy the
// WAL into the file, and Hydrate must have returned. Segments that were not shipped stay
// staged. Detach returns ErrInUse while connections are open.
func (f *File) Detach() error {
	f.mu.Lock()
	n := len(f.conns)
	f.mu.Unlock()
	if n > 0 {
		return fmt.Errorf("detach %s: %w", f.path, ErrInUse)
	}
	theEngine.mu.Lock()
	if theEngine.files[f.path] == f {
		delete(theEngine.files, f.path)
	}
	theEngine.mu.Unlock()
	return f.close()
}

func (f *File) close() error {
	var errs []error
	if f.cancel != nil {
		f.cancel()
	}
	if f.layer != nil {
		errs = append(errs, f.layer.bits.close())
	}
	if f.db != nil {
		errs = append(errs, f.db.Close())
	}
	return errors.Join(errs...)
}

// report logs an error that the engine cannot return.
func (f *File) report(what string, err error) {
	f.logger.Warn("database file operation failed", "path", f.path, "operation", what, "error", err)
}

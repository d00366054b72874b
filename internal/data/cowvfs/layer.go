package cowvfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/svcctl/svcctl/internal/lib/backoff"
)

const stripes = 64

// layer fills one database file from a Source. A page is present once its bit is set, which
// happens after its data is in the file. A page of the Source and a page of the engine are
// both written under the page's stripe lock, so that the older never overwrites the newer.
type layer struct {
	file      *os.File // of the database
	bits      *bitmap
	src       Source
	readahead uint32
	bound     func() (context.Context, context.CancelFunc) // for one fault

	done    atomic.Bool
	faults  atomic.Int64 // faults that wait for the Source
	stripes [stripes]sync.Mutex

	mu      sync.Mutex // guards flights and idle
	flights map[uint32]*flight
	idle    chan struct{} // closed when no fault waits; nil when none does
}

// flight is a read of the Source in progress, which concurrent readers of a page share.
type flight struct{ done chan struct{} }

func (l *layer) pageSize() int64 { return int64(l.bits.pageSize) }

// page is the page, from 0, that has the byte at off.
func (l *layer) page(off int64) uint32 {
	return uint32(off / l.pageSize()) //nolint:gosec // the engine numbers pages in 32 bits
}

// need returns once the pages of the n bytes at off are present.
func (l *layer) need(off, n int64) error {
	first, last := l.page(off), l.page(off+n-1)
	if l.here(first, last) {
		return nil
	}
	l.startFault()
	defer l.endFault()
	ctx, cancel := l.bound()
	defer cancel()
	for i := first; i <= last; i++ {
		if err := l.fetch(ctx, i, max(l.readahead, last-i+1)); err != nil {
			return err
		}
	}
	return nil
}

func (l *layer) here(first, last uint32) bool {
	for i := first; i <= last; i++ {
		if !l.bits.has(i) {
			return false
		}
	}
	return true
}

// fetch reads page i, and up to n-1 missing pages that follow it.
func (l *layer) fetch(ctx context.Context, i, n uint32) error {
	for !l.bits.has(i) {
		fl, count := l.reserve(i, n)
		if count > 0 {
			err := l.fill(ctx, i, count)
			l.unreserve(i, count, fl)
			if err != nil {
				return err
			}
			continue
		}
		select { // another goroutine reads it
		case <-fl.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// reserve adds pages from i on, at most n, to a new flight and returns their number. It is 0
// when another flight, which is returned, already reads page i.
func (l *layer) reserve(i, n uint32) (*flight, uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if fl := l.flights[i]; fl != nil {
		return fl, 0
	}
	fl, count := &flight{make(chan struct{})}, uint32(0)
	for ; count < n && i+count < l.bits.pages; count++ {
		if l.flights[i+count] != nil || l.bits.has(i+count) {
			break
		}
		l.flights[i+count] = fl
	}
	if count == 0 { // it has arrived meanwhile
		close(fl.done)
	}
	return fl, count
}

func (l *layer) unreserve(i, count uint32, fl *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range count {
		delete(l.flights, i+k)
	}
	close(fl.done)
}

// fill reads count pages from page i on and writes those into the file that are still
// missing.
func (l *layer) fill(ctx context.Context, i, count uint32) error {
	b, err := l.read(ctx, i, count)
	if err != nil {
		return err
	}
	size := l.pageSize()
	for k := range count {
		if err := l.put(i+k, b[int64(k)*size:int64(k+1)*size]); err != nil {
			return err
		}
	}
	return nil
}

// read reads from the Source. Pages after the end of the Source are zero: the database has
// shrunk, and the WAL has the transaction that cut them off.
func (l *layer) read(ctx context.Context, i, count uint32) ([]byte, error) {
	b := make([]byte, int64(count)*l.pageSize())
	have := min(int64(count), int64(l.src.Pages())-int64(i))
	if have <= 0 {
		return b, nil
	}
	got, err := l.src.ReadPages(ctx, i+1, int(have))
	if err != nil {
		return nil, fmt.Errorf("read pages %d to %d: %w", i+1, int64(i)+have, err)
	}
	if int64(len(got)) != have*l.pageSize() {
		return nil, fmt.Errorf("read pages %d to %d: got %d bytes", i+1, int64(i)+have, len(got))
	}
	copy(b, got)
	return b, nil
}

func (l *layer) put(i uint32, b []byte) error {
	m := &l.stripes[i%stripes]
	m.Lock()
	defer m.Unlock()
	if l.bits.has(i) {
		return nil
	}
	if _, err := l.file.WriteAt(b, int64(i)*l.pageSize()); err != nil {
		return err
	}
	l.bits.set(i)
	return nil
}

// write lets the engine write n bytes at off by fn.
func (l *layer) write(off, n int64, fn func() int32) int32 {
	i := l.page(off)
	if off%l.pageSize() != 0 || n != l.pageSize() { // part of a page, which the engine never writes in WAL mode
		if err := l.need(off, n); err != nil {
			return lib.SQLITE_IOERR_WRITE
		}
	}
	m := &l.stripes[i%stripes]
	m.Lock()
	defer m.Unlock()
	rc := fn()
	if rc == lib.SQLITE_OK {
		l.bits.set(i)
	}
	return rc
}

// truncate lets the engine truncate the file to size by fn. Pages that are cut off must not
// be read from the Source again.
func (l *layer) truncate(size int64, fn func() int32) int32 {
	for i := range l.stripes {
		l.stripes[i].Lock()
	}
	defer func() {
		for i := range l.stripes {
			l.stripes[i].Unlock()
		}
	}()
	rc := fn()
	if rc == lib.SQLITE_OK {
		for i := l.page(size + l.pageSize() - 1); i < l.bits.pages; i++ {
			l.bits.set(i)
		}
	}
	return rc
}

// persist syncs the file by fn and then saves which pages are present.
func (l *layer) persist(fn func() error) error {
	if l.done.Load() {
		return fn()
	}
	return l.bits.save(fn)
}

func (l *layer) startFault() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.faults.Add(1) == 1 {
		l.idle = make(chan struct{})
	}
}

func (l *layer) endFault() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.faults.Add(-1) == 0 {
		close(l.idle)
		l.idle = nil
	}
}

// yield waits until no fault waits.
func (l *layer) yield(ctx context.Context) error {
	for {
		l.mu.Lock()
		idle := l.idle
		l.mu.Unlock()
		if idle == nil {
			return ctx.Err()
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Pace is how fast a file is hydrated. The zero value is 1 MiB at a time without a pause.
type Pace struct {
	Pages uint32        // to read at a time
	Pause time.Duration // between two reads
}

const hydrateBytes = 1 << 20

// hydrate reads every page.
func (l *layer) hydrate(ctx context.Context, p Pace) error {
	if p.Pages == 0 {
		p.Pages = max(1, hydrateBytes/l.bits.pageSize)
	}
	for i := l.bits.firstMissing(0); i < l.bits.pages; i = l.bits.firstMissing(i) {
		if err := errors.Join(backoff.Sleep(ctx, p.Pause), l.yield(ctx)); err != nil {
			return err
		}
		if err := l.fetch(ctx, i, p.Pages); err != nil {
			return err
		}
	}
	return l.finish()
}

// finish makes the file a plain one.
func (l *layer) finish() error {
	if l.done.Load() {
		return nil
	}
	if err := l.bits.save(l.file.Sync); err != nil {
		return err
	}
	if err := l.bits.remove(); err != nil {
		return err
	}
	l.done.Store(true)
	return nil
}

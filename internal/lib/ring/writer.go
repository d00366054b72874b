package ring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"
)

// Delay is how long a record may wait in memory before it is written; Options.BusyDelay may
// make it longer.
const Delay = 20 * time.Millisecond

const (
	manyRecords = 8        // of a batch, after which the ring is busy
	earlyFlush  = 64 << 10 // bytes that are written before Delay is over
	maxWaiting  = 4 << 20  // bytes that wait for a slow disk; more are dropped
)

// Options are the limits of a ring.
type Options struct {
	SegmentSize int64 // bytes; a segment is exceeded by one batch at most
	Segments    int   // at least 1
	// BusyDelay is how long a record may wait soon after a batch of many records; 0 is Delay.
	// 50 writes per second cost a busy process more than its records do, because each write
	// wakes Go's scheduler.
	BusyDelay time.Duration
	// Failed is called with each error of writing, from a goroutine of its own or from
	// Append; nil ignores errors.
	Failed func(error)
}

// Writer appends to a ring. Append may be called concurrently and does not wait for the
// disk. The zero value is not valid; use Open.
type Writer struct {
	dir, name string
	o         Options

	mu      sync.Mutex // guards what follows
	waiting []byte     // whole records
	first   uint64     // number of the first record in waiting
	next    uint64     // number of the next record
	dropped int
	busy    time.Time // when the last batch was written, if it had many records
	timer   *time.Timer
	closed  bool

	disk    sync.Mutex // held while a batch is written; guards what follows
	spare   []byte
	current uint64 // first record of the newest segment; 0 for none
	size    int64  // of the newest segment
}

// Open continues the ring NAME in dir, which must exist. It ends a line that an earlier
// process was killed in the middle of.
func Open(dir, name string, o Options) (*Writer, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("opening the ring %s: %w", name, err)
	}
	w := &Writer{dir: dir, name: name, o: o, next: 1}
	list, err := segments(dir, name)
	if err != nil || len(list) == 0 {
		return w, err
	}
	newest := list[len(list)-1]
	n, size, whole, err := newest.last()
	if err != nil {
		return nil, err
	}
	w.current, w.size, w.next = newest.first, size, max(n+1, newest.first)
	if !whole {
		return w, w.write([]byte{'\n'}, w.next)
	}
	return w, nil
}

// Append adds a record, a JSON object without line breaks. object is copied. When the disk
// is so slow that too many records wait, the record is dropped and counted.
func (w *Writer) Append(object []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.waiting) > maxWaiting {
		w.dropped++
		return
	}
	if len(w.waiting) == 0 {
		w.first = w.next
		w.schedule()
	}
	b := append(w.waiting, prefix...)
	b = strconv.AppendUint(b, w.next, 10)
	b = append(append(b, ','), object[1:]...)
	w.waiting = append(b, '\n')
	w.next++
	if len(w.waiting) >= earlyFlush && len(w.waiting)-len(object) < earlyFlush {
		w.timer.Reset(0)
	}
}

// schedule needs w.mu.
func (w *Writer) schedule() {
	delay := Delay
	if w.o.BusyDelay > 0 && time.Since(w.busy) < w.o.BusyDelay {
		delay = w.o.BusyDelay
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(delay, func() { _ = w.Flush() })
		return
	}
	w.timer.Reset(delay)
}

// Dropped returns how many records were dropped since the last call.
func (w *Writer) Dropped() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.dropped
	w.dropped = 0
	return n
}

// Flush writes the records that wait. It waits for the disk.
func (w *Writer) Flush() error {
	w.disk.Lock()
	defer w.disk.Unlock()
	w.mu.Lock()
	batch, first := w.waiting, w.first
	w.waiting = w.spare[:0]
	if w.next-first >= manyRecords && len(batch) > 0 {
		w.busy = time.Now()
	}
	w.mu.Unlock()
	w.spare = batch
	if cap(batch) > 2*earlyFlush {
		w.spare = nil
	}
	if len(batch) == 0 {
		return nil
	}
	err := w.write(batch, first)
	if err != nil && w.o.Failed != nil && !errors.Is(err, fs.ErrNotExist) { // a deleted ring is not a failure
		w.o.Failed(err)
	}
	return err
}

// write appends a batch to the newest segment, or to a new one, and deletes old ones. The
// file is not kept open: a ring costs no descriptor, and its directory may be deleted.
// It needs w.disk.
func (w *Writer) write(batch []byte, first uint64) error {
	flags := os.O_WRONLY | os.O_APPEND | os.O_CREATE
	if begin := w.current == 0 || w.size >= w.o.SegmentSize; begin {
		w.current, w.size = first, 0
		defer w.trim()
	}
	f, err := os.OpenFile(segmentPath(w.dir, w.name, w.current), flags, 0o600)
	if err != nil {
		return fmt.Errorf("opening a segment: %w", err)
	}
	n, err := f.Write(batch)
	w.size += int64(n)
	if err == nil || n == 0 {
		return errors.Join(err, f.Close())
	}
	_, _ = f.Write([]byte{'\n'}) // else the next record would be lost too
	return errors.Join(err, f.Close())
}

// trim deletes the oldest segments.
func (w *Writer) trim() {
	list, err := segments(w.dir, w.name)
	for i := 0; err == nil && i < len(list)-w.o.Segments; i++ {
		err = os.Remove(list[i].path)
	}
	if err != nil && w.o.Failed != nil {
		w.o.Failed(err)
	}
}

// Close writes what waits. Later records are dropped.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	return w.Flush()
}

package replica

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// histWriter is a history object in a temporary file: log files one after another.
type histWriter struct {
	log     *Log
	tmp     *os.File
	out     *bufio.Writer
	off     int64
	first   bool
	entries []Entry
}

func (l *Log) newHist(first bool) (*histWriter, error) {
	tmp, err := os.CreateTemp(l.tempDir, "history-*")
	if err != nil {
		return nil, fmt.Errorf("create history object: %w", err)
	}
	return &histWriter{log: l, tmp: tmp, out: bufio.NewWriterSize(tmp, 256<<10), first: first}, nil
}

func (h *histWriter) remove() {
	_ = h.tmp.Close()
	_ = os.Remove(h.tmp.Name())
}

// Write adds to the file in progress, which add ends.
func (h *histWriter) Write(b []byte) (int, error) {
	n, err := h.out.Write(b)
	h.off += int64(n)
	return n, err
}

func (h *histWriter) add(e Entry) {
	if n := len(h.entries); n > 0 {
		e.Off = h.entries[n-1].Off + h.entries[n-1].Size
	}
	e.Size = h.off - e.Off
	h.entries = append(h.entries, e)
}

// copyFile adds a level 0 file of the log.
func (h *histWriter) copyFile(ctx context.Context, f branch.File, pause time.Duration) error {
	in := h.log.reader(ctx, f, pause)
	head := make([]byte, ltx.HeaderSize)
	if _, err := io.ReadFull(in, head); err != nil {
		return cmpErr(in.failed, err)
	}
	hdr, err := headerOf(f, head)
	if err != nil {
		return err
	}
	if _, err := h.Write(head); err != nil {
		return err
	}
	if _, err := io.Copy(h, in); err != nil {
		return cmpErr(in.failed, err)
	}
	h.add(Entry{Min: f.Min, Max: f.Max, Time: hdr.Timestamp, Place: hdr.NodeID})
	return nil
}

// cmpErr returns why reading failed rather than what the reader made of it.
func cmpErr(failed, err error) error {
	if failed != nil {
		return failed
	}
	return err
}

// points counts the entries that end at a point.
func (h *histWriter) points() (n int) {
	for _, e := range h.entries {
		if e.IsPoint() {
			n++
		}
	}
	return n
}

// packedFile is a file of a history object, and how to read it.
type packedFile struct {
	Entry
	open func(ctx context.Context, pause time.Duration) io.Reader
}

// files are those of an object that put has written.
func (h *histWriter) files() []packedFile {
	list := make([]packedFile, len(h.entries))
	for i, e := range h.entries {
		list[i] = packedFile{e, func(context.Context, time.Duration) io.Reader { return io.NewSectionReader(h.tmp, e.Off, e.Size) }}
	}
	return list
}

func (l *Log) open(f branch.File) func(context.Context, time.Duration) io.Reader {
	return func(ctx context.Context, pause time.Duration) io.Reader { return l.reader(ctx, f, pause) }
}

// merged are files of which each group becomes one.
type merged struct {
	first  bool // see branch.Hist
	files  []packedFile
	groups [][2]int
	pause  time.Duration
}

// putMerged writes an object in which each group of files is one.
func (l *Log) putMerged(ctx context.Context, tier string, m merged) (branch.Hist, error) {
	w, err := l.newHist(m.first)
	if err != nil {
		return branch.Hist{}, err
	}
	defer w.remove()
	for _, g := range m.groups {
		if err := w.merge(ctx, m.files[g[0]:g[1]], m.pause); err != nil {
			return branch.Hist{}, err
		}
	}
	return w.put(ctx, tier)
}

// merge adds the merge of consecutive files, which ends where the last of them does.
func (h *histWriter) merge(ctx context.Context, list []packedFile, pause time.Duration) error {
	last := list[len(list)-1]
	e := Entry{Min: list[0].Min, Max: last.Max, Time: last.Time, Place: last.Place}
	if len(list) == 1 {
		if _, err := io.Copy(h, last.open(ctx, pause)); err != nil {
			return err
		}
		h.add(e)
		return nil
	}
	readers := make([]io.Reader, len(list))
	for i, f := range list {
		readers[i] = f.open(ctx, pause)
	}
	c, err := ltx.NewCompactor(h, readers)
	if err != nil {
		return fmt.Errorf("create compactor: %w", err)
	}
	c.HeaderFlags = ltx.HeaderFlagNoChecksum
	c.SetSpillDir(h.log.tempDir)
	if err := c.Compact(ctx); err != nil {
		return err
	}
	h.add(e)
	return nil
}

// put ends the object and stores it. An earlier attempt, or another owner, may have stored the same
// transactions.
func (h *histWriter) put(ctx context.Context, tier string) (branch.Hist, error) {
	index := appendEntries(nil, h.entries)
	if _, err := h.Write(index); err != nil {
		return branch.Hist{}, err
	}
	if err := h.out.Flush(); err != nil {
		return branch.Hist{}, err
	}
	first, last := h.entries[0], h.entries[len(h.entries)-1]
	o := branch.Hist{Prefix: h.log.prefix, Tier: tier, Min: first.Min, Max: last.Max, From: first.Time, To: first.Time, First: h.first, Size: h.off}
	for _, e := range h.entries {
		o.From, o.To = min(o.From, e.Time), max(o.To, e.Time)
	}
	info, err := objstore.Settle(ctx, h.log.bucket, o.Key(), h.tmp, o.Size, objstore.Condition{IfAbsent: true})
	if errors.Is(err, objstore.ErrPrecondition) {
		info, err = h.log.bucket.Stat(ctx, o.Key())
	}
	o.Size, o.Modified = info.Size, info.Modified
	return o, err
}

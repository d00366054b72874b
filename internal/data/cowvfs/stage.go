package cowvfs

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// Segment is a sequence of committed transactions as one LTX file of level 0, whose TXID follows
// that of the previous segment. The file does not change, and exists until Shipped names it.
type Segment struct {
	TXID  ltx.TXID
	Path  string // of the LTX file
	Bytes int64  // its length
	Pages uint32 // of the database after it
}

// stage is the directory of segments that wait to be shipped. Its file "position" has the header
// of the newest shipped segment, or of the initial state; the newest header of all is how far
// the WAL is captured.
type stage struct{ dir string }

const positionName = "position"

func (s stage) path(id ltx.TXID) string { return filepath.Join(s.dir, ltx.FormatFilename(id, id)) }

// open reads the segments and deletes those that a crash left incomplete.
func (s stage) open() (last ltx.Header, queue []Segment, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return last, nil, err
	}
	if last, err = readHeader(filepath.Join(s.dir, positionName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return last, nil, err
	}
	entries, err := os.ReadDir(s.dir) // sorted, and so are TXIDs in names
	if err != nil {
		return last, nil, err
	}
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		id, _, err := ltx.ParseFilename(e.Name())
		switch {
		case e.Name() == positionName:
			continue
		case err != nil || id <= last.MaxTXID:
			if err := os.Remove(path); err != nil {
				return last, nil, err
			}
			continue
		}
		h, err := readHeader(path)
		if err != nil {
			return last, nil, err
		}
		if h.MaxTXID != id || id != last.MaxTXID+1 {
			return last, nil, fmt.Errorf("%s does not follow transaction %s: %w", path, last.MaxTXID, ErrBehind)
		}
		info, err := e.Info()
		if err != nil {
			return last, nil, err
		}
		last, queue = h, append(queue, Segment{TXID: id, Path: path, Bytes: info.Size(), Pages: h.Commit})
	}
	return last, queue, nil
}

func readHeader(path string) (h ltx.Header, err error) {
	f, err := os.Open(path)
	if err != nil {
		return h, err
	}
	defer f.Close()
	if h, _, err = ltx.PeekHeader(f); err != nil {
		return h, fmt.Errorf("read header of %s: %w", path, err)
	}
	return h, nil
}

// keep saves h as the position.
func (s stage) keep(h ltx.Header) error {
	b, err := h.MarshalBinary()
	if err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(s.dir, positionName), b, 0o600)
}

// stageLocked makes segments of the committed frames that are not staged: one to each mark, and one
// of the rest. The caller holds staging.
func (c *capture) stageLocked() error {
	c.markRest()
	return c.stageMarked()
}

// stageEmpty makes a segment with the unchanged first page or, if it is the very first, with
// every page. All committed frames are staged, and the caller holds staging.
func (c *capture) stageEmpty(at Stamp) error {
	c.mu.Lock()
	p := plan{gen: c.gen, from: c.staged, to: c.staged, last: c.last, size: c.last.Commit, same: fromBase, at: at}
	for i, page := range c.pages[:c.done] {
		if page == 1 {
			p.same = i
		}
	}
	c.mu.Unlock()
	var err error
	if p.gen.pageSize == 0 {
		p.gen.pageSize, err = c.base.pageSize()
	}
	if p.size == 0 && err == nil {
		p.size, err = c.base.pages()
	}
	if err == nil {
		err = c.write(p)
	}
	if err != nil {
		return fmt.Errorf("stage transaction %s: %w", p.last.MaxTXID+1, err)
	}
	return nil
}

// plan is the content of a segment: the newest version of each page in the frames from..to.
type plan struct {
	gen      generation
	from, to int
	pages    []uint32
	last     ltx.Header // of the previous segment
	size     uint32     // of the database in pages
	same     int        // when from equals to: the frame of the first page, or fromBase
	at       Stamp
}

// source is where a page of a segment is read from.
type source struct {
	page  uint32
	frame int // or one of the following
}

const (
	fromBase = -1 // the database file has it
	zeroes   = -2 // the database grew by a page that was never written
)

func (p *plan) header() ltx.Header {
	id := p.last.MaxTXID + 1
	h := ltx.Header{
		Version: ltx.Version, Flags: ltx.HeaderFlagNoChecksum, PageSize: p.gen.pageSize, Commit: p.size,
		MinTXID: id, MaxTXID: id, Timestamp: p.at.Time, NodeID: p.at.Node,
		WALOffset: p.gen.offset(p.from), WALSize: p.gen.offset(p.to) - p.gen.offset(p.from),
	}
	h.WALSalt1, h.WALSalt2 = p.gen.salts.words()
	return h
}

// sources lists the pages of the segment, sorted. The very first segment is a snapshot and has
// every page. Any other also has the pages by which the database grew, even unwritten ones.
func (p *plan) sources() []source {
	newest := make(map[uint32]int, len(p.pages))
	for i, page := range p.pages {
		newest[page] = p.from + i
	}
	if p.from == p.to {
		newest[1] = p.same
	}
	list := make([]source, 0, len(newest))
	for page, frame := range newest {
		if page <= p.size {
			list = append(list, source{page, frame})
		}
	}
	missing := zeroes
	if p.last.MaxTXID == 0 {
		missing = fromBase
	}
	for page := p.last.Commit + 1; page <= p.size; page++ {
		if _, ok := newest[page]; !ok && page != ltx.LockPgno(p.gen.pageSize) {
			list = append(list, source{page, missing})
		}
	}
	slices.SortFunc(list, func(a, b source) int { return int(int64(a.page) - int64(b.page)) })
	return list
}

// write writes the segment's file, and then adds it to the queue.
func (c *capture) write(p plan) error {
	h := p.header()
	wal, err := os.Open(c.wal)
	if p.from == p.to && p.same == fromBase && errors.Is(err, fs.ErrNotExist) {
		wal, err = nil, nil // not needed
	}
	if err != nil {
		return err
	}
	defer wal.Close() // harmless for nil
	n, err := c.encode(h, p.sources(), func(s source, b []byte) error { return c.read(wal, p.gen, s, b) })
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.staged = h, p.to
	if p.from < p.to {
		c.marks = c.marks[1:]
	}
	c.queue = append(c.queue, Segment{TXID: h.MaxTXID, Path: c.segments.path(h.MaxTXID), Bytes: n, Pages: h.Commit})
	return nil
}

// encode writes an LTX file under its final name, or no file.
func (c *capture) encode(h ltx.Header, list []source, read func(source, []byte) error) (n int64, err error) {
	path := c.segments.path(h.MaxTXID)
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path+".tmp"))
		}
	}()
	if n, err = encodeTo(f, h, list, read); err != nil {
		return 0, errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	return n, os.Rename(path+".tmp", path)
}

func encodeTo(f *os.File, h ltx.Header, list []source, read func(source, []byte) error) (int64, error) {
	w := bufio.NewWriterSize(f, 256<<10)
	enc, err := ltx.NewEncoder(w)
	if err != nil {
		return 0, err
	}
	if err := enc.EncodeHeader(h); err != nil {
		return 0, err
	}
	buf := make([]byte, frameHeaderSize+int(h.PageSize))
	for _, s := range list {
		if err := read(s, buf); err != nil {
			return 0, err
		}
		if err := enc.EncodePage(ltx.PageHeader{Pgno: s.page}, buf[frameHeaderSize:]); err != nil {
			return 0, err
		}
	}
	if err := enc.Close(); err != nil {
		return 0, err
	}
	return enc.N(), w.Flush()
}

// read reads the page of s into b, after room for a frame's header.
func (c *capture) read(wal *os.File, g generation, s source, b []byte) error {
	switch s.frame {
	case zeroes:
		clear(b)
		return nil
	case fromBase:
		return c.base.readPage(s.page, b[frameHeaderSize:])
	}
	if _, err := wal.ReadAt(b, g.offset(s.frame)); err != nil {
		return err
	}
	if be32(b) != s.page || salts(b[8:16]) != g.salts {
		return fmt.Errorf("read frame %d of the WAL: it does not have page %d: %w", s.frame, s.page, errLost)
	}
	return nil
}

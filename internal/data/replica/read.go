package replica

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Reads that are closer to each other than gap become one; up to width others run
// concurrently.
const (
	gap   = 32 << 10
	width = 8
	// scattered is how many ranges ReadEach reads at a time: they are small and far apart.
	scattered = 64
	maxRange  = 4 << 20
)

// span is a range of one file, and the pages wanted of it.
type span struct {
	file     int
	off, end int64
	pages    []uint32
}

// Run returns how many pages from pgno, at most limit, one range has: the number that a
// waiting reader should request.
func (s *Source) Run(pgno uint32, limit int) int {
	n := 1
	for n < limit && int64(pgno)+int64(n) <= int64(len(s.where)) {
		last, next := int(pgno)+n-2, int(pgno)+n-1
		if s.size[next] == 0 || s.where[next]>>offsetBits != s.where[last]>>offsetBits ||
			s.where[next]-s.where[last] > uint64(s.size[last])+gap {
			break
		}
		n++
	}
	return n
}

// ReadPages fills buf with the pages from pgno on; len(buf) is a multiple of the page
// size. It fetches pages in different files concurrently. It checks everything that can
// be checked of a part of a file, see the package.
func (s *Source) ReadPages(ctx context.Context, pgno uint32, buf []byte) error {
	n := int64(len(buf)) / int64(max(s.pageSize, 1))
	if pgno == 0 || n == 0 || int64(pgno)-1+n > int64(len(s.where)) || n*int64(s.pageSize) != int64(len(buf)) {
		return fmt.Errorf("read %d bytes from page %d: not pages of a database of %d pages", len(buf), pgno, len(s.where))
	}
	spans := s.spans(pgno, int(n), buf)
	if len(spans) == 1 {
		return s.readSpan(ctx, spans[0], pgno, buf)
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(width)
	for _, sp := range spans {
		work.Go(func() error { return s.readSpan(ctx, sp, pgno, buf) })
	}
	return work.Wait()
}

// spans groups the wanted pages into ranges, and clears the lock page.
func (s *Source) spans(pgno uint32, n int, buf []byte) []span {
	wanted := make([]uint32, 0, n)
	for i := range n {
		if p := pgno + uint32(i); s.size[p-1] > 0 {
			wanted = append(wanted, p)
		} else {
			clear(buf[i*int(s.pageSize):][:s.pageSize])
		}
	}
	return s.group(wanted)
}

// group groups pages that are in files into ranges.
func (s *Source) group(wanted []uint32) (spans []span) {
	slices.SortFunc(wanted, func(a, b uint32) int { return cmp.Compare(s.where[a-1], s.where[b-1]) })
	for _, p := range wanted {
		file, off, end := s.at(p)
		if k := len(spans) - 1; k >= 0 && spans[k].file == file && off-spans[k].end <= gap && end-spans[k].off <= maxRange {
			spans[k].end = end
			spans[k].pages = append(spans[k].pages, p)
			continue
		}
		spans = append(spans, span{file, off, end, []uint32{p}})
	}
	return spans
}

func (s *Source) at(pgno uint32) (file int, off, end int64) {
	w := s.where[pgno-1]
	off = int64(w & (1<<offsetBits - 1))
	return int(w >> offsetBits), off, off + int64(s.size[pgno-1])
}

func (s *Source) readSpan(ctx context.Context, sp span, first uint32, buf []byte) error {
	return s.decodeSpan(ctx, sp, func(p uint32, raw []byte) error {
		dst := buf[int64(p-first)*int64(s.pageSize):][:s.pageSize]
		return decodeFrame(s.plan[sp.file], p, raw, dst, nil)
	})
}

// decodeSpan fetches a range and calls fn with the frame of each page.
func (s *Source) decodeSpan(ctx context.Context, sp span, fn func(p uint32, raw []byte) error) error {
	raw, err := s.bytes(ctx, sp.file, sp.off, sp.end)
	if err != nil {
		return err
	}
	for _, p := range sp.pages {
		_, off, end := s.at(p)
		if err := fn(p, raw[off-sp.off:end-sp.off]); err != nil {
			return err
		}
	}
	return nil
}

// bytes returns a range of a file, from memory if the file is there.
func (s *Source) bytes(ctx context.Context, file int, off, end int64) ([]byte, error) {
	if data := s.small[file]; data != nil {
		return data[off:end], nil
	}
	return readRange(ctx, s.bucket, s.plan[file], off, end-off)
}

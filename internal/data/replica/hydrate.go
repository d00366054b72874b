package replica

import (
	"context"
	"hash"
	"sync"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
)

// Hydrate reads ranges of 4 MiB, two at a time, and passes at most 1 MiB of pages to one
// call.
const (
	hydrateRange   = 4 << 20
	hydrateWorkers = 2
	hydrateBatch   = 1 << 20
)

// Hydrate reads every file of the plan completely, in ranges, and calls fn with every
// page of the database once: consecutive pages from pgno on, without the lock page. Two
// goroutines call fn, in no order; fn must not keep the slice. Hydrate fails when the
// checksum of a file is wrong; the pages passed to fn before may then be wrong too.
func (s *Source) Hydrate(ctx context.Context, fn func(pgno uint32, pages []byte) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := make(chan *chunk)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(jobs)
		for i := range s.plan {
			if err := s.cut(ctx, i, jobs); err != nil {
				cancel(err)
				return
			}
		}
	})
	for range hydrateWorkers {
		wg.Go(func() {
			for c := range jobs {
				if err := s.work(ctx, c, fn); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// chunk is one range of a file to hydrate.
type chunk struct {
	of       *tally
	n        int // of the file's chunks
	entries  []byte
	off, end int64
	data     []byte // nil unless the file is in memory
}

// tally collects the CRCs of a file's chunks.
type tally struct {
	file  int
	index *pageIndex

	mu      sync.Mutex
	sums    []uint64
	lengths []int64
	left    int
}

// cut sends the chunks of file i to jobs.
func (s *Source) cut(ctx context.Context, i int, jobs chan<- *chunk) error {
	x, data, err := s.indexOf(ctx, i)
	if err != nil {
		return err
	}
	t := &tally{file: i, index: x}
	var chunks []*chunk
	var c *chunk
	from := 0
	err = x.each(x.entries, func(fr frame) error {
		if c == nil || fr.off+int64(fr.size)-c.off > hydrateRange {
			c = &chunk{of: t, n: len(chunks), off: fr.off}
			chunks = append(chunks, c)
		}
		c.end = fr.off + int64(fr.size)
		c.entries = x.entries[from-len(c.entries) : fr.raw]
		from = fr.raw
		return nil
	})
	if err != nil {
		return err
	}
	t.left, t.sums, t.lengths = len(chunks), make([]uint64, len(chunks)), make([]int64, len(chunks))
	for _, c := range chunks {
		if data != nil {
			c.data = data[c.off:c.end]
		}
		select {
		case jobs <- c:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// indexOf returns the index of file i, and for a small file its verified content.
func (s *Source) indexOf(ctx context.Context, i int) (x *pageIndex, data []byte, err error) {
	if data = s.small[i]; data == nil {
		return fetchIndex(ctx, s.bucket, s.plan[i])
	}
	x, err = newIndex(s.plan[i], data)
	return x, data, err
}

// work unpacks one chunk. After the last chunk of a file it checks the file.
func (s *Source) work(ctx context.Context, c *chunk, fn func(uint32, []byte) error) error {
	f, data := s.plan[c.of.file], c.data
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if data == nil {
		var err error
		if data, err = readRange(ctx, s.bucket, f, c.off, c.end-c.off); err != nil {
			return err
		}
	}
	u := unpacker{s: s, file: c.of.file, fn: fn, hash: newHash()}
	err := c.of.index.each(c.entries, func(fr frame) error { return u.page(f, fr, data[fr.off-c.off:][:fr.size]) })
	if err == nil {
		err = u.flush()
	}
	if err != nil || !c.of.done(c.n, u.hash.Sum64(), u.hashed) || c.data != nil {
		return err
	}
	return s.checkSum(ctx, f, c.of)
}

// done records a chunk's CRC and reports whether it was the last chunk.
func (t *tally) done(n int, sum uint64, length int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sums[n], t.lengths[n] = sum, length
	t.left--
	return t.left == 0
}

// checkSum verifies the checksum of a file, joined from header, chunks and index.
func (s *Source) checkSum(ctx context.Context, f branch.File, t *tally) error {
	head, err := readRange(ctx, s.bucket, f, 0, ltx.HeaderSize)
	if err != nil {
		return err
	}
	if _, err := headerOf(f, head); err != nil {
		return err
	}
	h := newHash()
	_, _ = h.Write(head)
	sum := h.Sum64()
	for i, part := range t.sums {
		sum = joinCRC(sum, part, t.lengths[i])
	}
	h.Reset()
	end := t.index.tail[:len(t.index.tail)-ltx.ChecksumSize]
	_, _ = h.Write(make([]byte, ltx.PageHeaderSize)) // the end of the pages
	_, _ = h.Write(end)
	sum = joinCRC(sum, h.Sum64(), int64(ltx.PageHeaderSize+len(end)))
	if ltx.ChecksumFlag|ltx.Checksum(sum) != t.index.checksum() {
		return &CorruptError{f.Key(), ltx.ErrChecksumMismatch}
	}
	return nil
}

// unpacker collects consecutive pages that are current in its file.
type unpacker struct {
	s      *Source
	file   int
	fn     func(uint32, []byte) error
	hash   hash.Hash64
	hashed int64

	first uint32
	run   []byte
	spare []byte // for pages that a newer file replaces
}

// page unpacks one frame. It hashes every frame and passes on the current ones.
func (u *unpacker) page(f branch.File, fr frame, raw []byte) error {
	size := int(u.s.pageSize)
	u.hashed += ltx.PageHeaderSize + 4 + int64(size)
	if int64(fr.pgno) > int64(len(u.s.where)) || u.s.where[fr.pgno-1] != place(u.file, fr.off) {
		if u.spare == nil {
			u.spare = make([]byte, size)
		}
		return decodeFrame(f, fr.pgno, raw, u.spare, u.hash)
	}
	if n := len(u.run); n > 0 && (fr.pgno != u.first+uint32(n/size) || n+size > hydrateBatch) { //nolint:gosec // a batch is small
		if err := u.flush(); err != nil {
			return err
		}
	}
	if len(u.run) == 0 {
		u.first = fr.pgno
	}
	if u.run == nil {
		u.run = make([]byte, 0, max(hydrateBatch, size))
	}
	u.run = u.run[:len(u.run)+size]
	return decodeFrame(f, fr.pgno, raw, u.run[len(u.run)-size:], u.hash)
}

func (u *unpacker) flush() error {
	if len(u.run) == 0 {
		return nil
	}
	err := u.fn(u.first, u.run)
	u.run = u.run[:0]
	return err
}

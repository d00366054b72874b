package durable

import (
	"maps"
	"math"
)

// How long a log may be held for us, in frames.
const (
	hotFrames  = 64   // in one poll: the writer is busy, keep it from beginning the log again
	muchFrames = 256  // captured: the same
	longLog    = 1200 // captured: let the writer begin again, else its commits become slow
)

// follow captures from the log alone. It returns ok false when the log cannot tell.
func (f *follower) follow() (c *change, ok bool) {
	o := f.files
	x, ok := readIndex(o.shm)
	switch {
	case !ok:
		return nil, o.captured == 0
	case x.salt == o.salt && x.frames == o.captured:
		if o.captured > longLog {
			o.hold(false)
		}
		return nil, true
	case x.salt == o.salt && x.frames < o.captured:
		return nil, false
	}
	out := &change{pages: map[uint32][]byte{}}
	var next run
	if x.salt == o.salt && o.captured > 0 {
		next = readFrames(o.wal, o.salt, o.sum, o.captured, x.frames)
	} else {
		if o.captured > 0 && !f.tail(x, out) {
			return nil, false
		}
		if next, ok = f.begin(x); !ok {
			return nil, false
		}
	}
	if next.end != x.frames {
		return nil, false
	}
	f.take(x, next, out)
	if out.count == 0 {
		return nil, true
	}
	f.count = out.count
	return out, true
}

// tail adds the end of the generation before, which is still in the file behind the frames
// of the new one.
func (f *follower) tail(x index, out *change) bool {
	o := f.files
	if x.salt.generation() != o.salt.generation()+1 {
		return false
	}
	old := readFrames(o.wal, o.salt, o.sum, o.captured, math.MaxInt32)
	if old.stop == x.salt || old.stop == o.salt { // overwritten or torn: there may have been more
		return false
	}
	if now, ok := readIndex(o.shm); !ok || now.salt != x.salt || now.frames > o.captured {
		return false
	}
	out.pages, out.count = old.pages, old.count
	return true
}

// begin reads the log from its first frame.
func (f *follower) begin(x index) (run, bool) {
	s, sum, ok := readHeader(f.files.wal)
	if x.frames == 0 { // a header may not be written yet
		if !ok || s != x.salt {
			return run{}, true
		}
		return run{sum: sum}, true
	}
	if !ok || s != x.salt {
		return run{}, false
	}
	next := readFrames(f.files.wal, s, sum, 0, x.frames)
	now, ok := readIndex(f.files.shm)
	return next, ok && now.salt == x.salt
}

// take records that next is captured, and adds it to out.
func (f *follower) take(x index, next run, out *change) {
	o := f.files
	hot := next.end > o.captured+hotFrames || next.end > muchFrames
	maps.Copy(out.pages, next.pages)
	if next.count != 0 {
		out.count = next.count
	}
	for number := range out.pages {
		if number > out.count {
			delete(out.pages, number)
		}
	}
	o.salt, o.captured, o.sum = x.salt, next.end, next.sum
	if hot {
		o.hold(true)
	}
}

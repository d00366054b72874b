package cowvfs

import (
	"fmt"
	"time"

	"github.com/superfly/ltx"
)

// Stamp is what the header of a segment says of its place in the history of a version: a time, in
// milliseconds, and a number that the caller defines.
type Stamp struct {
	Time int64
	Node uint64
}

// Moment is one moment of several files, at which no writer ran. A segment of each of them ends
// there, and its header has the stamp of the moment.
type Moment struct {
	settled chan struct{} // closed when at is set
	at      Stamp
}

// NewMoment returns a moment without files. Settle must follow: segments wait for it.
func NewMoment() *Moment { return &Moment{settled: make(chan struct{})} }

// Settle sets the stamp, once.
func (m *Moment) Settle(at Stamp) {
	m.at = at
	close(m.settled)
}

// mark is a place in the WAL where a segment ends, although frames may follow: a Moment, or what was
// committed when an attempt to stage began. Each mark makes one segment, so that the number of the
// segment's transaction is known before it is written.
type mark struct {
	to     int     // committed frames
	size   uint32  // of the database there, in pages
	at     Stamp   // without a moment
	moment *Moment // nil for none
}

func (m mark) stamp() Stamp {
	if m.moment == nil {
		return m.at
	}
	<-m.moment.settled
	return m.moment.at
}

// Note adds the file to a moment: it notes how many frames are committed, and writes nothing. No writer
// may run. id is the newest transaction of the file at the moment, and fresh reports whether a segment
// ends there, which StageNoted or a later Stage makes.
func (f *File) Note(m *Moment) (id ltx.TXID, fresh bool, err error) {
	if f.capture == nil {
		return 0, false, nil
	}
	return f.capture.note(m)
}

func (c *capture) note(m *Moment) (id ltx.TXID, fresh bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return 0, false, c.lost
	}
	if fresh = c.done > c.marked(); fresh {
		c.marks = append(c.marks, mark{to: c.done, size: c.size, moment: m})
	}
	return c.last.MaxTXID + ltx.TXID(len(c.marks)), fresh, nil
}

// marked is the number of frames up to the last mark. The caller holds mu.
func (c *capture) marked() int {
	if n := len(c.marks); n > 0 {
		return c.marks[n-1].to
	}
	return c.staged
}

// markRest ends a segment at what is committed now. Its time is taken before any later moment can be
// noted, since the state at a moment includes it.
func (c *capture) markRest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done > c.marked() {
		c.marks = append(c.marks, mark{to: c.done, size: c.size, at: c.now()})
	}
}

// unmarkRest undoes markRest after a failure, unless a moment has counted its segment: the next attempt
// makes one segment of the frames then.
func (c *capture) unmarkRest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.marks) == 1 && c.marks[0].moment == nil {
		c.marks = nil
	}
}

func (c *capture) now() Stamp {
	if c.clock == nil {
		return Stamp{Time: time.Now().UnixMilli()}
	}
	return c.clock()
}

// stageMarked makes the segments up to the last mark. The caller holds staging.
func (c *capture) stageMarked() error {
	for {
		p, ok, err := c.plan()
		if err != nil || !ok {
			return err
		}
		if err := c.write(p); err != nil {
			c.unmarkRest()
			return fmt.Errorf("stage transaction %s: %w", p.last.MaxTXID+1, err)
		}
	}
}

// plan is the segment up to the first mark.
func (c *capture) plan() (p plan, ok bool, err error) {
	c.mu.Lock()
	if c.lost != nil || len(c.marks) == 0 {
		defer c.mu.Unlock()
		return p, false, c.lost
	}
	m := c.marks[0]
	p = plan{gen: c.gen, from: c.staged, to: m.to, pages: c.pages[c.staged:m.to], last: c.last, size: m.size}
	c.mu.Unlock()
	p.at = m.stamp()
	return p, true, nil
}

// StageNoted makes the segments of the moments that were noted, and returns the newest transaction. Later
// commits stay for Stage.
func (f *File) StageNoted() (ltx.TXID, error) {
	if f.capture == nil {
		return 0, nil
	}
	f.capture.staging.Lock()
	defer f.capture.staging.Unlock()
	err := f.capture.stageMarked()
	return f.TXID(), err
}

// StageEmpty stages everything and then makes a segment that changes nothing. No writer may run, and the
// database must not be empty.
func (f *File) StageEmpty(at Stamp) error {
	f.capture.staging.Lock()
	defer f.capture.staging.Unlock()
	if err := f.capture.stageLocked(); err != nil {
		return err
	}
	return f.capture.stageEmpty(at)
}

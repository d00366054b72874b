//go:build simulate

package simulate

import (
	"maps"
	"slices"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/volume"
)

// The states of a version.
const (
	isNew      = "new" // its fork is in progress
	isLive     = "live"
	isArchived = "archived"
	isGone     = "gone" // destroyed, or its fork failed
)

// machine has a lease, which a process of its own renews.
type machine struct {
	name  string
	lease *process
}

// ids are identifiers of writes.
type ids map[int64]bool

// version is what the model knows of a version.
type version struct {
	id     string
	parent *version
	state  string
	wanted bool // by the registry
	forked bool // by the registry

	began  int            // when its fork began
	cut    int            // when its cut had been made
	must   map[string]ids // by database: what it must have inherited
	base   map[string]ids // by database: what it has inherited, once that was read
	absent ids            // own writes without an acknowledgment that a read did not find

	processes []*process
	newest    *process          // serves
	busy      bool              // starts, stops or is forked: no other operation may begin
	turn      int               // of the operation that made it busy
	dirs      map[string]string // by machine: the directory of its files
}

func newVersion(id string, parent *version) *version {
	return &version{
		id: id, parent: parent, state: isNew, wanted: true, must: map[string]ids{}, base: map[string]ids{}, absent: ids{},
		dirs: map[string]string{},
	}
}

// occupy makes the version busy until free is called, or vacate.
func (v *version) occupy() (free func()) {
	v.turn++
	mine := v.turn
	v.busy = true
	return func() {
		if v.turn == mine {
			v.busy = false
		}
	}
}

// vacate ends an operation whose process is dead.
func (v *version) vacate() { v.turn++; v.busy = false }

// process is a process of a version, of a machine's lease, or the daemon.
type process struct {
	name      string
	number    int
	version   *version
	machine   *machine
	dir       string
	volumes   *dataplane.Volumes
	databases map[string]volume.Database
	branches  *branch.Store

	dead     bool
	killed   chan struct{} // closed when dead
	cutOff   bool          // none of its requests arrives
	stopping bool          // it has found out that it must stop
	readyAt  int           // 0: it does not serve yet
	readyOn  int64         // the virtual time of readyAt in nanoseconds
	writing  int           // clients that write

	synced map[string]int // by database: when the last sync to disk that succeeded began
}

func (p *process) serves() bool { return !p.dead && p.readyAt > 0 }

// tookOver reports whether p is a later process than q and served before the point of time.
func (p *process) tookOver(q *process, before int) bool {
	return p.number > q.number && p.readyAt > 0 && p.readyAt < before
}

// write is one attempt of a client.
type write struct {
	id           int64
	version      *version
	process      *process
	database     string
	began, ended int  // ended: acknowledged
	shipped      bool // the object store has it, and a client was told so
	lost         bool // it may be missing: async, and its machine may be lost
	after        *write
}

func sorted(m map[int64]*write) []int64 { return slices.Sorted(maps.Keys(m)) }

// own lists the writes of a version, in their order.
func (w *world) own(v *version) (list []*write) {
	for _, id := range sorted(w.writes) {
		if w.writes[id].version == v {
			list = append(list, w.writes[id])
		}
	}
	return list
}

// loosen marks what async may lose: acknowledged and not known to be in the object store.
func (w *world) loosen(v *version) {
	if w.sync {
		return
	}
	for _, wr := range w.own(v) {
		if wr.ended > 0 && !wr.shipped {
			wr.lost = true
		}
	}
}

// shipped marks the writes that were acknowledged before a point of time.
func (w *world) shipped(v *version, before int) {
	for _, wr := range w.own(v) {
		if wr.ended > 0 && wr.ended < before {
			wr.shipped = true
		}
	}
}

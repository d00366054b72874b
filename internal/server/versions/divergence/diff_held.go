package divergence

import (
	"crypto/sha256"

	"github.com/svcctl/svcctl/internal/data/rowsql"
	"github.com/svcctl/svcctl/internal/svc"
)

// group is what the counts of a diff are by.
type group struct {
	kind            svc.ExportKind
	resource, table string
	silent          bool // its rows have no statements
}

// side is a record in one of the two states.
type side struct {
	group

	content

	id   string
	size int // of the values
}

// change is a record in both states; nil where it does not exist.
type change struct {
	was, is *content
	at      int // the order in which it was found
}

// content is what a record has in one state.
type content struct {
	sum    [sha256.Size]byte // of what is compared
	values map[string]any
	row    *rowsql.State
}

// records are those of one group.
type records struct {
	counts  svc.Written // of those that are not held
	changes map[string]*change
}

var errHeld = svc.Errorf(svc.Conflict, svc.CodeDiffTooLarge, "diff: more rows differ than it may hold in memory").
	WithHint("leave out --rows, compare one table with --table TABLE, or read all of it with svcctl data export")

// held keeps the records of a database that differ until all are known: a version may have a row at
// another place than the other one, which is no change.
type held struct {
	groups map[group]*records
	rows   bool // and not only counts
	twice  bool // a record may come more than once
	size   int
	limit  int // of size
}

func (h *held) of(g group) *records {
	if h.groups[g] == nil {
		h.groups[g] = &records{changes: map[string]*change{}}
	}
	return h.groups[g]
}

// add adds what two places have that are the same in both states. placed says that their records are
// at no other place.
func (h *held) add(was, is *side, placed bool) error {
	together := was != nil && is != nil && was.group == is.group && was.id == is.id
	if together && was.sum == is.sum {
		return nil
	}
	if !h.rows && !h.twice && (together || placed) {
		h.count(was, is, together)
		return nil
	}
	if was != nil {
		h.hold(was).was = new(was.content)
	}
	if is != nil {
		h.hold(is).is = new(is.content)
	}
	if h.size > h.limit {
		return errHeld
	}
	return nil
}

// count counts records that need not be held.
func (h *held) count(was, is *side, together bool) {
	switch {
	case together:
		h.of(is.group).counts.Updated++
	default:
		if was != nil {
			h.of(was.group).counts.Deleted++
		}
		if is != nil {
			h.of(is.group).counts.Inserted++
		}
	}
}

// hold returns the record of a side.
func (h *held) hold(s *side) *change {
	const each, copies = 200, 2 // of an entry of the map; of values, whose size is that of their text in SQL
	r := h.of(s.group)
	h.size += each + len(s.id) + copies*s.size
	if r.changes[s.id] == nil {
		r.changes[s.id] = &change{at: len(r.changes)}
	}
	return r.changes[s.id]
}

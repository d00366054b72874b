package divergence

import (
	"crypto/sha256"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/host/durable"
)

// filePage is a page of a file.
type filePage struct {
	file

	number uint32
}

// objectPages are the pages of objects that differ.
type objectPages struct {
	limit   int // of bytes in memory
	was, is map[int64]file
	changed map[place]bool                     // objects
	ids     map[file]bool                      // files that both states have, under two ids
	moved   map[filePage][2]*[sha256.Size]byte // pages of those files
}

func newObjectPages(was, is map[int64]file, limit int) *objectPages {
	o := &objectPages{limit: limit, was: was, is: is, changed: map[place]bool{}, ids: map[file]bool{}, moved: map[filePage][2]*[sha256.Size]byte{}}
	elsewhere := map[file]bool{}
	for id, f := range was {
		if is[id] != f {
			elsewhere[f] = true
		}
	}
	for _, f := range is {
		if elsewhere[f] {
			o.ids[f] = true
		}
	}
	return o
}

// add notes a row of durable_page.
func (o *objectPages) add(r rowdiff.Row) error {
	old, wasFound := pageOf(r.Base, o.was)
	here, isFound := pageOf(r.Now, o.is)
	if wasFound && isFound && old == here && contentOf(r.Base) == contentOf(r.Now) {
		return nil
	}
	if wasFound {
		o.put(old, 0, r.Base)
	}
	if isFound {
		o.put(here, 1, r.Now)
	}
	const each = 250 // of an entry of the map, with its names
	if len(o.moved)*each > o.limit {
		return errHeld
	}
	return nil
}

// put notes a page that the other state does not have at this place. Only a file that has another id
// there may have it nevertheless.
func (o *objectPages) put(at filePage, state int, r *rowdiff.Record) {
	if !o.ids[at.file] {
		o.change(at.file)
		return
	}
	sum, both := sha256.Sum256([]byte(contentOf(r))), o.moved[at]
	both[state] = &sum
	o.moved[at] = both
}

func (o *objectPages) change(f file) {
	if at, ok := f.object(); ok {
		o.changed[at] = true
	}
}

// pageOf is the page of a row; nothing for one whose file was deleted.
func pageOf(r *rowdiff.Record, files map[int64]file) (at filePage, ok bool) {
	if r == nil {
		return at, false
	}
	id, number := durable.PageOf(r.RowID)
	f, ok := files[id]
	return filePage{f, number}, ok
}

// contentOf is the content of a page.
func contentOf(r *rowdiff.Record) string {
	data, _ := r.Values[len(r.Values)-1].([]byte)
	return string(data)
}

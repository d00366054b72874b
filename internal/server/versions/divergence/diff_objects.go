package divergence

import (
	"context"
	"crypto/sha256"

	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/host/durable"
	"github.com/svcctl/svcctl/internal/svc"
)

// file is a row of durable_object: a file of an object. Its class is a key, with the namespace of the
// project.
type file struct{ class, name string }

// object is the object of a file, by its class and id.
func (f file) object() (at place, ok bool) {
	id, ok := durable.ObjectOf(f.name)
	return place{svc.ObjectClass(f.class), id}, ok
}

// filePage is a page of a file.
type filePage struct {
	file

	number uint32
}

// objects compares the storage of Durable Objects. Two versions may store one object under two ids,
// and two objects under one.
func (d *diff) objects(ctx context.Context, p *pair, h *held) error {
	was, err := d.files(ctx, p.was)
	if err != nil {
		return err
	}
	is, err := d.files(ctx, p.is)
	if err != nil {
		return err
	}
	pages := objectPages{changed: map[place]bool{}, moved: map[filePage][2]*[sha256.Size]byte{}}
	other := renamed(was, is)
	err = d.compare(ctx, p, selection{
		only:  func(table string) bool { return table == "durable_page" },
		every: func(string) bool { return other },
		row:   func(r rowdiff.Row) error { return pages.add(r, was, is) },
	})
	if err != nil {
		return err
	}
	return pages.objects(was, is, h)
}

// files are the files of objects in one state, by their ids.
func (d *diff) files(ctx context.Context, state *replica.Source) (map[int64]file, error) {
	files := map[int64]file{}
	only := func(table string) bool { return table == "durable_object" }
	err := d.all(ctx, state, only, func(f fields) error {
		files[f.integer("id")] = file{f.text("class"), f.text("name")}
		return nil
	})
	return files, err
}

// objectPages are the pages of objects that differ.
type objectPages struct {
	changed map[place]bool                     // objects
	moved   map[filePage][2]*[sha256.Size]byte // pages whose other state, under another id, is not known yet
	size    int
}

// add notes a row of durable_page.
func (o *objectPages) add(r rowdiff.Row, was, is map[int64]file) error {
	old, wasFound := pageOf(r.Base, was)
	here, isFound := pageOf(r.Now, is)
	if wasFound && isFound && old == here {
		if contentOf(r.Base) != contentOf(r.Now) {
			o.change(old.file)
		}
		return nil
	}
	if wasFound {
		o.put(old, 0, contentOf(r.Base))
	}
	if isFound {
		o.put(here, 1, contentOf(r.Now))
	}
	if o.size > heldBytes {
		return errHeld
	}
	return nil
}

func (o *objectPages) put(at filePage, state int, content string) {
	const each = 250 // of an entry of the map, with its names
	sum, both := sha256.Sum256([]byte(content)), o.moved[at]
	both[state] = &sum
	o.moved[at] = both
	o.size += each
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

// objects keeps the objects that differ.
func (o *objectPages) objects(was, is map[int64]file, h *held) error {
	for at, both := range o.moved {
		if both[0] == nil || both[1] == nil || *both[0] != *both[1] {
			o.change(at.file)
		}
	}
	before, after := objectsOf(was), objectsOf(is)
	for at := range before {
		if !after[at] || o.changed[at] {
			if err := h.add(objectSide(at, 0), only(after[at], objectSide(at, 1)), false); err != nil {
				return err
			}
		}
	}
	for at := range after {
		if !before[at] {
			if err := h.add(nil, objectSide(at, 1), false); err != nil {
				return err
			}
		}
	}
	return nil
}

func only(exists bool, s *side) *side {
	if exists {
		return s
	}
	return nil
}

func objectsOf(files map[int64]file) map[place]bool {
	objects := map[place]bool{}
	for _, f := range files {
		if at, ok := f.object(); ok {
			objects[at] = true
		}
	}
	return objects
}

// objectSide is an object in a state that is not that of the other one.
func objectSide(at place, state byte) *side {
	return &side{group: group{kind: svc.DiffDurable, resource: at.resource}, id: at.key, sum: [sha256.Size]byte{state}}
}

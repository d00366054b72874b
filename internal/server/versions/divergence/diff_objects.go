package divergence

import (
	"context"
	"crypto/sha256"

	"github.com/svcctl/svcctl/internal/data/replica"
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
	pages := newObjectPages(was, is, h.limit)
	other := renamed(was, is)
	err = d.compare(ctx, p, selection{
		only:  func(table string) bool { return table == "durable_page" },
		every: func(string) bool { return other },
		row:   pages.add,
	})
	if err != nil {
		return err
	}
	return pages.objects(h)
}

// files are the files of objects in one state, by their ids.
func (d *diff) files(ctx context.Context, state *replica.Source) (map[int64]file, error) {
	files, classes := map[int64]file{}, map[string]string{}
	only := func(table string) bool { return table == "durable_object" }
	err := d.all(ctx, state, only, func(_ string, f fields) error {
		class := f.text("class")
		if classes[class] == "" { // one text for all objects of a class
			classes[class] = class
		}
		files[f.integer("id")] = file{classes[class], f.text("name")}
		return nil
	})
	return files, err
}

// objects keeps the objects that differ.
func (o *objectPages) objects(h *held) error {
	for at, both := range o.moved {
		if both[0] == nil || both[1] == nil || *both[0] != *both[1] {
			o.change(at.file)
		}
	}
	before, after := objectsOf(o.was), objectsOf(o.is)
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
	return &side{group: group{kind: svc.DiffDurable, resource: at.resource}, id: at.key, content: content{sum: [sha256.Size]byte{state}}}
}

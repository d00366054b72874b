package durable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// unfinished begins the names of files that are not complete, in the Keeper's directory.
const unfinished = "new-"

// Opening makes the file at path from the rows if it is that of an object that workerd opens
// for the first time since the files were begun. Other paths are left alone. After an error
// workerd must not open the file: it would create an empty object.
func (k *Keeper) Opening(ctx context.Context, path string) error {
	name, ok := nameOf(filepath.Base(path))
	if !ok {
		return nil
	}
	class := k.classAt(filepath.Dir(path))
	if class == "" {
		return nil
	}
	if err := k.beforeUse(ctx, class, name); err != nil {
		return err
	}
	k.making.Lock()
	defer k.making.Unlock()
	if k.complete || k.opened[family(class, name)] {
		return nil
	}
	rows, err := query(ctx, k.db, sqlFamily, class, base(name))
	for _, r := range rows {
		if err == nil {
			err = k.makeFile(ctx, r)
		}
	}
	if err == nil {
		k.opened[family(class, name)] = true
	}
	return err
}

// beforeUse makes a power failure safe for what the object will acknowledge. The alarms are
// opened when workerd starts, and change with an object alone.
func (k *Keeper) beforeUse(ctx context.Context, class, name string) error {
	if name == metadata {
		return nil
	}
	err := k.settle(ctx)
	if name != base(name) && !isIndex(name) { // workerd has listed the facet, and synced nothing
		err = errors.Join(err, syncFile(k.path(class, base(name)+indexSuffix)))
	}
	return err
}

// MakeAll makes the files of all objects that have none, for a workerd whose opens are not
// reported to Opening.
func (k *Keeper) MakeAll(ctx context.Context) error {
	k.making.Lock()
	defer k.making.Unlock()
	if k.complete {
		return nil
	}
	rows, err := query(ctx, k.db, sqlObjects)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if k.opened[family(r.class, r.name)] || !k.cfg.has(r.class) {
			continue
		}
		if err := k.makeFile(ctx, r); err != nil {
			return err
		}
	}
	k.complete = true
	return nil
}

// classAt is the class whose files are in a directory; "" for none.
func (k *Keeper) classAt(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	for _, key := range k.cfg.Keys {
		if own, err := os.Stat(filepath.Join(k.cfg.Dir, key)); err == nil && os.SameFile(own, info) {
			return key
		}
	}
	return ""
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// makeFile makes the file of r, complete and, unless settle is still to come, synced under
// its name. It needs k.making.
func (k *Keeper) makeFile(ctx context.Context, r row) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("restoring the object %s/%s: %w", r.class, r.name, err)
		}
	}()
	o := &object{follower: follower{path: k.path(r.class, r.name), known: true, count: r.pages}, class: r.class, name: r.name}
	if !missing(o.path) {
		return nil
	}
	image, err := o.load(ctx, k, r)
	if err != nil {
		return err
	}
	temp, err := k.writeImage(image)
	if err != nil {
		return err
	}
	if o.closed, err = stampOf(temp); err == nil {
		k.touchedMu.Lock() // what sees the name finds the object
		defer k.touchedMu.Unlock()
		err = os.Rename(temp, o.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	k.made = append(k.made, o)
	if !k.syncEach {
		k.later = append(k.later, o.path)
	}
	return nil
}

// load is the content of o's file, without an alarm of the parent.
func (o *object) load(ctx context.Context, k *Keeper, r row) ([]byte, error) {
	var pages map[uint32][]byte
	err := k.db.Read(ctx, func(c *raw.Conn) (err error) {
		pages, err = load(c, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	if isIndex(r.name) {
		return indexContent(pages)
	}
	if r.inherited {
		o.unsaved = map[uint32][]byte{}
		for _, number := range disarm(pages) {
			o.unsaved[number] = pages[number]
		}
	}
	image := make([]byte, 0, int(r.pages)*pageSize)
	for number := uint32(1); number <= r.pages; number++ {
		image = append(image, pages[number]...)
	}
	return image, nil
}

// writeImage writes a file under a name of its own.
func (k *Keeper) writeImage(image []byte) (path string, err error) {
	f, err := os.CreateTemp(k.cfg.Dir, unfinished+"*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(image)
	if err == nil && k.syncEach {
		err = f.Sync()
	}
	if err == nil && k.owner != 0 {
		err = f.Chown(k.owner, k.owner)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), err
}

// removeUnfinished deletes what a Keeper that was killed had begun.
func (k *Keeper) removeUnfinished() error {
	paths, err := filepath.Glob(filepath.Join(k.cfg.Dir, unfinished+"*"))
	for _, path := range paths {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

package durable

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/internal/lib/boot"
)

const (
	generationFile = "generation" // in the directory: its files continue the rows of that generation
	suffix         = ".sqlite"
	metadata       = "metadata" // the file of a class with the times of its alarms
)

// objectName is what workerd calls the file of an object, or of a facet of one.
var objectName = regexp.MustCompile(`^([0-9a-f]{64}(\.[0-9]+)?|` + metadata + `)$`)

// restore makes all files anew from the rows. Files that are there are of an earlier owner
// of the rows.
func (k *Keeper) restore(ctx context.Context) error {
	if err := os.RemoveAll(k.cfg.Dir); err != nil {
		return err
	}
	rows, err := objects(ctx, k.db)
	if err == nil {
		err = k.makeDirs()
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		if !k.cfg.has(r.class) {
			continue
		}
		if err := k.restoreObject(ctx, r); err != nil {
			return fmt.Errorf("restoring the object %s/%s: %w", r.class, r.name, err)
		}
	}
	return k.begin(ctx)
}

// makeDirs makes the directory of each class.
func (k *Keeper) makeDirs() error {
	for _, key := range k.cfg.Keys {
		if err := os.MkdirAll(filepath.Join(k.cfg.Dir, key), 0o700); err != nil {
			return err
		}
	}
	return os.MkdirAll(k.cfg.Dir, 0o700)
}

func (k *Keeper) restoreObject(ctx context.Context, r row) error {
	var pages map[uint32][]byte
	err := k.db.Read(ctx, func(c *raw.Conn) (err error) {
		pages, err = load(c, r)
		return err
	})
	if err != nil {
		return err
	}
	o := k.object(r.class, r.name)
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
	if err := os.WriteFile(o.path, image, 0o600); err != nil {
		return err
	}
	o.known, o.count = true, r.pages
	o.closed, err = stampOf(o.path)
	return err
}

// begin gives the files a generation of their own, in the rows first: files without the
// generation of the rows are never believed. Files that are not synced yet are believed only
// until the machine goes down.
func (k *Keeper) begin(ctx context.Context) error {
	current, err := boot.ID()
	if err != nil {
		return err
	}
	k.unsynced = rand.Text()
	err = k.db.Write(ctx, func(c *raw.Conn) error { return c.Exec(`UPDATE durable_meta SET generation = ?1`, k.unsynced) })
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(k.cfg.Dir, generationFile), []byte(k.unsynced+" "+current), 0o600)
}

// syncFiles syncs what restore made. It may take seconds on a busy disk, so the worker does
// not wait for it.
func (k *Keeper) syncFiles() {
	if k.unsynced == "" {
		return
	}
	err := k.syncAll()
	if err == nil {
		err = atomicfile.WriteFile(filepath.Join(k.cfg.Dir, generationFile), []byte(k.unsynced), 0o600)
	}
	if err != nil {
		k.cfg.Logger.Warn("cannot sync the files of durable objects; after a power failure they are made from the object store", "error", err)
	}
}

// continues reports whether the files continue the rows of that generation.
func continues(dir, generation string) bool {
	text, err := os.ReadFile(filepath.Join(dir, generationFile))
	mark, since, unsynced := strings.Cut(string(text), " ")
	if err != nil || generation == "" || mark != generation {
		return false
	}
	current, err := boot.ID()
	return !unsynced || err == nil && since == current
}

package durable

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/lib/boot"
)

// generationFile is in the directory: its files continue the rows of that generation.
const generationFile = "generation"

// restart deletes all files, which are of an earlier owner of the rows, and begins a generation
// of files that continues the rows.
func (k *Keeper) restart(ctx context.Context) error {
	if err := os.RemoveAll(k.cfg.Dir); err != nil {
		return err
	}
	if err := k.makeDirs(); err != nil {
		return err
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

// begin gives the files a generation of their own, in the rows first: files without the
// generation of the rows are never believed. Until settle, files are believed only until the
// machine goes down.
func (k *Keeper) begin(ctx context.Context) error {
	current, err := boot.ID()
	if err != nil {
		return err
	}
	k.unsettled = rand.Text()
	err = k.db.Write(ctx, func(c *raw.Conn) error { return c.Exec(`UPDATE durable_meta SET generation = ?1`, k.unsettled) })
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(k.cfg.Dir, generationFile), []byte(k.unsettled+" "+current), 0o600)
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

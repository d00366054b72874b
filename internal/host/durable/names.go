package durable

import (
	"path/filepath"
	"regexp"
	"strings"
)

// The names that workerd gives to files: ID.sqlite for an object, ID.N.sqlite for a facet of
// it, ID.facets for the list of its facets, and metadata.sqlite.
const (
	suffix      = ".sqlite"
	indexSuffix = ".facets"
	metadata    = "metadata" // the file of a class with the times of its alarms
)

var (
	objectName = regexp.MustCompile(`^([0-9a-f]{64}(\.[0-9]+)?|` + metadata + `)$`)
	indexName  = regexp.MustCompile(`^[0-9a-f]{64}` + regexp.QuoteMeta(indexSuffix) + `$`)
)

// nameOf is the name in the rows of a file: without .sqlite.
func nameOf(file string) (name string, ok bool) {
	if indexName.MatchString(file) {
		return file, true
	}
	name, ok = strings.CutSuffix(file, suffix)
	return name, ok && objectName.MatchString(name)
}

// path is the file of a name.
func (k *Keeper) path(class, name string) string {
	if !isIndex(name) {
		name += suffix
	}
	return filepath.Join(k.cfg.Dir, class, name)
}

// isIndex reports whether name is that of the list of an object's facets.
func isIndex(name string) bool { return strings.HasSuffix(name, indexSuffix) }

// base is the name of the object that name belongs to.
func base(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return name
}

// family names an object together with its facets, whose files are made with its own: a
// facet without a file was deleted if the object has one.
func family(class, name string) string { return class + "/" + base(name) }

// ObjectOf is the id of the object that a row belongs to, by the name in the row; ok is false for the
// times of alarms, which belong to no object.
func ObjectOf(name string) (id string, ok bool) { return base(name), name != metadata }

// PageOf is the place of a page: the id of its row in durable_object, and its number in the file.
func PageOf(id int64) (object int64, number uint32) {
	return id >> 32, uint32(id & 0xffffffff) // the low half; see rows.go
}

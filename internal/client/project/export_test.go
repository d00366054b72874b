package project

import (
	"maps"
	"path/filepath"
	"slices"
)

// Keys are all keys that a project file may have.
func Keys() []string { return slices.Sorted(maps.Keys(keys)) }

// Read is Load of a file with this text, which it does not write.
func Read(path string, text []byte) error {
	top, err := parse(path, text)
	if err != nil {
		return invalid(path, err)
	}
	_, err = found(path, filepath.Dir(path)).take(top, Options{}, path, nil)
	return err
}

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

// ReadOutput is Load of a worker of a Build Output with this text, without its files.
func ReadOutput(path string, data []byte) error {
	n, err := parseJSONC(data)
	if err != nil {
		return invalid(path, err)
	}
	r := &reader{file: path, taken: map[string]string{}}
	if !r.is(n, "the file", kindObject) {
		return r.err()
	}
	f := found(path, filepath.Dir(path))
	_, err = f.takeWith(r, translate(r, n), Options{typed: true}, nil)
	return err
}

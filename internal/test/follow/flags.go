package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// flagSchema is the struct with a field for each compatibility flag.
const flagSchema = "workerd/io/compatibility-date.capnp:CompatibilityFlags"

// The annotations of a field.
const (
	enableFlag   = 0xb6dabbc87cd1b03e
	disableFlag  = 0xd145cf1adc42577c
	enableDate   = 0x91a5d5d7244cf6d0
	experimental = 0xe3e5a63e76284d88
)

// The pointers of the structs of a schema that are read.
const (
	nodeFields, fieldName, fieldAnnotations, annotationValue, valueText = 3, 0, 1, 0, 0
)

// leastFlags is how many flags a table has at least. A program with fewer is not understood.
const leastFlags = 150

// flagsOf returns the rows of the table of flags that a workerd has: field, enabling name, disabling name, date,
// "experimental".
func flagsOf(program []byte) (rows []string, err error) {
	s, err := findSchema(program, flagSchema)
	if err != nil {
		return nil, err
	}
	root, _ := s.object(0) // findSchema has read it
	for _, field := range root.list(nodeFields) {
		has := map[uint64]string{}
		for _, a := range field.list(fieldAnnotations) {
			text := ""
			if v, ok := s.object(a.pointers + annotationValue*word); ok {
				text = v.text(valueText)
			}
			has[a.uint64()] = text
		}
		if has[enableFlag] == "" {
			continue // a field that is no longer used
		}
		secret := ""
		if _, ok := has[experimental]; ok {
			secret = "experimental"
		}
		rows = append(rows, strings.Join([]string{field.text(fieldName), has[enableFlag], has[disableFlag], has[enableDate], secret}, "\t"))
	}
	if len(rows) < leastFlags {
		return nil, fmt.Errorf("%w: it has %d flags", errSchema, len(rows))
	}
	return rows, nil
}

// changes are rows that a table gained and lost.
type changes struct{ Added, Removed []string }

// writeFlags replaces the table of flags, and says what changed.
func (t tree) writeFlags(rows []string) (c changes, err error) {
	path := filepath.Join(t.root, flagsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	before := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	c = compare(before, rows)
	end := ""
	if strings.HasSuffix(string(text), "\n") {
		end = "\n"
	}
	return c, os.WriteFile(path, []byte(strings.Join(rows, "\n")+end), 0o644) //nolint:gosec // a source file
}

func compare(before, after []string) (c changes) {
	for _, row := range after {
		if !slices.Contains(before, row) {
			c.Added = append(c.Added, row)
		}
	}
	for _, row := range before {
		if !slices.Contains(after, row) {
			c.Removed = append(c.Removed, row)
		}
	}
	return c
}

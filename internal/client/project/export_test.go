package project

import (
	"maps"
	"slices"
)

// Keys are all keys that a project file may have.
func Keys() []string { return slices.Sorted(maps.Keys(keys)) }

package cgroup

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// place is where the group of this process is.
type place struct {
	dir string
	top bool // it is the root of what this process sees: that of a container
}

// find finds the group of this process.
func find(f files) (at place, err error) {
	groups, err := f.read("/proc/self/cgroup")
	if err != nil {
		return at, fmt.Errorf("this system has no control groups: %w", err)
	}
	own := ""
	for line := range strings.Lines(groups) {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			own = strings.TrimSuffix(path, "\n")
		}
	}
	mounts, err := f.read("/proc/self/mountinfo")
	if err != nil {
		return at, fmt.Errorf("reading the mounted file systems: %w", err)
	}
	for line := range strings.Lines(mounts) {
		root, mount, ok := hierarchy(line)
		if !ok || own == "" || strings.HasPrefix(own, "/..") { // of another container
			continue
		}
		if below, err := filepath.Rel(root, own); err == nil && filepath.IsLocal(below) {
			return place{filepath.Join(mount, below), own == "/" || own == "/"+ownName}, nil
		}
	}
	return at, errors.New("this system has no control groups of version 2, or does not show that of the server")
}

// hierarchy returns which group is mounted where by a line of mountinfo, if it is one of cgroup v2.
func hierarchy(line string) (root, mount string, ok bool) {
	what, kind, _ := strings.Cut(line, " - ")
	fields := strings.Fields(what)
	if len(fields) < 5 || !strings.HasPrefix(kind, "cgroup2 ") {
		return "", "", false
	}
	return fields[3], fields[4], true
}

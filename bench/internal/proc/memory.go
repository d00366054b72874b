package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Unshared is the memory in bytes that only this process has: Private_Clean and
// Private_Dirty of its smaps_rollup. It is what ending the process gives back.
func Unshared(pid int) (int64, error) { return rollup(pid, "Private_Clean:", "Private_Dirty:") }

// Dirty is the memory in bytes that only this process has and no file has, as Private_Dirty. The
// program's pages do not count, which several processes share or not.
func Dirty(pid int) (int64, error) { return rollup(pid, "Private_Dirty:") }

// Program is the name of the file that a process executes.
func Program(pid int) (string, error) {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return filepath.Base(path), err
}

// Proportional is the memory in bytes of a process and of all below it, in which pages of
// several processes count in parts (Pss).
func Proportional(pid int) (int64, error) {
	sum, err := rollup(pid, "Pss:")
	if err != nil {
		return 0, err
	}
	children, err := Children(pid)
	if err != nil {
		return 0, err
	}
	for _, child := range children {
		more, err := Proportional(child)
		if err != nil {
			return 0, err
		}
		sum += more
	}
	return sum, nil
}

// rollup adds up fields of smaps_rollup.
func rollup(pid int, names ...string) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	var sum int64
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !slices.Contains(names, fields[0]) {
			continue
		}
		kib, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += kib << 10
	}
	return sum, nil
}

// Children are the processes that pid has started, from any of its threads.
func Children(pid int) ([]int, error) {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, err
	}
	var children []int
	for _, task := range tasks {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err != nil {
			return nil, err
		}
		for field := range strings.FieldsSeq(string(data)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				return nil, err
			}
			children = append(children, child)
		}
	}
	return children, nil
}

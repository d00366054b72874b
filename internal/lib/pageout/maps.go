package pageout

import (
	"strconv"
	"strings"
)

// area is a range of addresses.
type area struct{ begin, length uintptr }

// areas returns the ranges of a text like /proc/PID/maps whose pages belong to the process
// alone: those that it may write and does not share, and those without a file.
func areas(maps string) (list []area) {
	for line := range strings.Lines(maps) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !isOwn(fields) {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		begin, err := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		if err == nil && err2 == nil && end > begin {
			list = append(list, area{uintptr(begin), uintptr(end - begin)})
		}
	}
	return list
}

// isOwn judges a line: its range, rights, offset, device, inode and, for most, its name.
func isOwn(fields []string) bool {
	rights, inode := fields[1], fields[4]
	switch {
	case !strings.HasSuffix(rights, "p"): // shared
		return false
	case len(fields) > 5 && strings.HasPrefix(fields[5], "[v"): // vdso, vvar and vsyscall are the kernel's
		return false
	}
	return strings.Contains(rights, "w") || inode == "0"
}

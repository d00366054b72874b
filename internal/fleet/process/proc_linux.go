package process

import (
	"bytes"
	"os"
	"strconv"
)

// executable returns the file to execute for path. For our own binary that is the
// running program, even if its file has been replaced.
func executable(path string) string {
	if own, err := os.Executable(); err == nil && own == path {
		return "/proc/self/exe"
	}
	return path
}

// descriptors returns the number of open file descriptors of a process; 0 if it has
// ended.
func descriptors(pid int) int {
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // if the process ends: the names read so far
	return len(names)
}

// rss returns the resident memory of a process in bytes; 0 if it has ended.
func rss(pid int) int64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

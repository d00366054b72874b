package supervisor

import (
	"bytes"
	"os"
	"strconv"
)

// executable is the file to execute for path. For our own binary that is the
// program that runs, even when its file was replaced by another version since.
func executable(path string) string {
	if own, err := os.Executable(); err == nil && own == path {
		return "/proc/self/exe"
	}
	return path
}

// rss is the resident memory of a process in bytes; 0 when it is gone.
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

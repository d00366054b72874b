package supervisor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

type program struct{ path, name string }

// executable is the program that runs, even when its file was replaced by
// another version meanwhile.
func executable() (program, error) {
	path, err := os.Executable()
	return program{"/proc/self/exe", filepath.Base(path)}, err
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

package workerhost

import (
	"bytes"
	"os"
	"strconv"
)

// meter measures the memory of one process.
type meter struct{ statm *os.File }

func newMeter(pid int) meter {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return meter{} // it has ended
	}
	return meter{f}
}

// bytes is the memory that is in use by the process alone: files, such as its program, do
// not count. It is 0 for a process that has ended.
func (m meter) bytes() int64 {
	if m.statm == nil {
		return 0
	}
	var buf [128]byte
	n, err := m.statm.ReadAt(buf[:], 0)
	if n == 0 && err != nil {
		return 0
	}
	fields := bytes.Fields(buf[:n])
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64) // in pages; what is no number counts as 0
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}

func (m meter) close() {
	if m.statm != nil {
		_ = m.statm.Close()
	}
}

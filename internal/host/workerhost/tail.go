package workerhost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/svcctl/svcctl/internal/svc"
)

// TailLogs gives the last n lines of the worker's log below dir, oldest first.
// A version that never ran has none. It may be called while a host writes.
func TailLogs(dir string, n int) ([]svc.LogLine, error) {
	var newestFirst []svc.LogLine
	for _, name := range []string{logName, oldLogName} {
		lines, err := tailFile(filepath.Join(dir, name), n-len(newestFirst))
		if err != nil {
			return nil, err
		}
		newestFirst = append(newestFirst, lines...)
	}
	slices.Reverse(newestFirst)
	return newestFirst, nil
}

// tailFile reads a file from its end: its last n lines, newest first. What is
// not a whole line, because a host was killed or is writing it, is left out.
func tailFile(path string, n int) ([]svc.LogLine, error) {
	if n <= 0 {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the worker's log: %w", err)
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("reading the worker's log: %w", err)
	}
	var out []svc.LogLine
	var tail []byte // from end on, not taken yet
	for len(out) < n && end > 0 {
		size := min(end, 64<<10)
		end -= size
		block := make([]byte, size+int64(len(tail)))
		if _, err := f.ReadAt(block[:size], end); err != nil {
			return nil, fmt.Errorf("reading the worker's log: %w", err)
		}
		copy(block[size:], tail)
		tail = block
		out, tail = takeLines(out, tail, n)
	}
	if line, ok := parseLine(tail); ok && end == 0 && len(out) < n {
		out = append(out, line)
	}
	return out, nil
}

// takeLines moves whole lines from the end of data to out, until out has n. The
// first line of data may have begun earlier and stays.
func takeLines(out []svc.LogLine, data []byte, n int) ([]svc.LogLine, []byte) {
	for len(out) < n {
		i := bytes.LastIndexByte(data, '\n')
		if i < 0 {
			break
		}
		if line, ok := parseLine(data[i+1:]); ok {
			out = append(out, line)
		}
		data = data[:i]
	}
	return out, data
}

func parseLine(data []byte) (svc.LogLine, bool) {
	var line svc.LogLine
	if len(data) == 0 || json.Unmarshal(data, &line) != nil {
		return svc.LogLine{}, false
	}
	return line, true
}

package cache

import (
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"strings"
)

// newFile is a file that is being written. Its bytes count toward the limit.
type newFile struct {
	store    *store
	file     *os.File
	sum      hash.Hash32
	written  int64
	reserved int64
	kept     bool
}

// Write writes and counts.
func (f *newFile) Write(b []byte) (int, error) {
	if !f.store.reserve(int64(len(b))) {
		return 0, errNotStored
	}
	f.reserved += int64(len(b))
	_, _ = f.sum.Write(b) // a hash does not fail
	n, err := f.file.Write(b)
	f.written += int64(n)
	return n, err
}

// fill writes everything.
func (f *newFile) fill(m meta, head string, body io.Reader) error {
	f.sum = crc32.New(castagnoli)
	if _, err := f.file.Seek(prologueSize, io.SeekStart); err != nil {
		return err
	}
	selectors := m.encode()
	if _, err := io.WriteString(f, selectors+head); err != nil {
		return err
	}
	size, err := io.Copy(struct{ io.Writer }{f}, body)
	if err != nil {
		return err
	}
	p := prologue{
		Magic: magic, Since: m.since.UnixMilli(), Expires: m.expires.UnixMilli(),
		Selectors: uint32(len(selectors)), Head: uint32(len(head)), Body: size, Sum: f.sum.Sum32(), //nolint:gosec // heads are short
	}
	text, err := binary.Append(nil, binary.LittleEndian, p)
	if err == nil {
		f.written += int64(len(text))
		_, err = f.file.WriteAt(text, 0)
	}
	return err
}

// discard closes the file, and removes it unless it was committed.
func (f *newFile) discard() {
	_ = f.file.Close() // nothing waits for the disk
	f.store.release(f.reserved)
	if !f.kept {
		_ = os.Remove(f.file.Name())
	}
}

func (m meta) encode() string {
	h := http.Header{}
	for name, value := range m.selectors {
		h[name] = []string{value}
	}
	var b strings.Builder
	_ = h.Write(&b) // a Builder does not fail
	return b.String() + "\r\n"
}

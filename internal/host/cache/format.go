package cache

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"time"
)

// A file is a prologue, the selectors as HTTP headers, the head of the response and its
// body. It is written without waiting for the disk: the checksum finds one that a power
// failure left incomplete.
type prologue struct {
	Magic           [8]byte
	Since, Expires  int64  // milliseconds
	Selectors, Head uint32 // bytes
	Body            int64  // bytes
	Sum             uint32 // CRC-32C of all that follows
	_               uint32
}

//nolint:gochecknoglobals // constants
var (
	magic        = [8]byte{'s', 'v', 'c', 'c', 'a', 'c', 'h', '1'}
	prologueSize = int64(binary.Size(prologue{}))
	castagnoli   = crc32.MakeTable(crc32.Castagnoli)
)

var errTorn = errors.New("the file is not whole")

// found is a stored response that a request is answered with. It may be shared.
type found struct {
	meta
	status   int
	header   http.Header // must not be changed
	size     int64       // of the body
	inMemory []byte      // the body; nil when it is in file
	file     *os.File    // nil when the body is in memory
	offset   int64       // of the body in file
}

func (f *found) close() {
	if f.file != nil {
		_ = f.file.Close() // it was only read
	}
}

// weight is what f takes in memory, in bytes.
func (f *found) weight() int64 { return f.size + blockSize }

// readFile reads the file of an entry: its body too, if it is not larger than max. With
// check, it fails with errTorn for a file that is not whole. The caller closes it.
func readFile(path string, max int64, check bool) (*found, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &found{file: file}
	if err := f.read(max, check); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *found) read(max int64, check bool) error {
	var p prologue
	text := make([]byte, prologueSize)
	if _, err := io.ReadFull(f.file, text); err != nil {
		return errTorn
	}
	if _, err := binary.Decode(text, binary.LittleEndian, &p); err != nil || p.Magic != magic {
		return errTorn
	}
	f.offset, f.size = prologueSize+int64(p.Selectors)+int64(p.Head), p.Body
	if check && !f.sums(p) {
		return errTorn
	}
	if err := f.readHeads(p); err != nil {
		return err
	}
	f.since, f.expires = time.UnixMilli(p.Since), time.UnixMilli(p.Expires)
	if p.Body > max {
		return nil
	}
	body := make([]byte, p.Body)
	if _, err := f.file.ReadAt(body, f.offset); err != nil && p.Body > 0 {
		return err
	}
	f.close()
	f.inMemory, f.file = body, nil
	return nil
}

// sums reports whether the checksum and the length are right.
func (f *found) sums(p prologue) bool {
	sum := crc32.New(castagnoli)
	length := f.offset + p.Body - prologueSize
	n, err := io.Copy(sum, io.NewSectionReader(f.file, prologueSize, length))
	return err == nil && n == length && sum.Sum32() == p.Sum
}

func (f *found) readHeads(p prologue) error {
	r := bufio.NewReader(io.NewSectionReader(f.file, prologueSize, int64(p.Selectors)+int64(p.Head)))
	fields, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return err
	}
	f.selectors = map[string]string{}
	for name, values := range fields {
		f.selectors[name] = values[0]
	}
	f.status, f.header, err = readHead(r)
	return err
}

package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Schema returns the schema version (PRAGMA user_version) of a database.
func Schema(database []byte) int { return int(binary.BigEndian.Uint32(database[60:])) }

// header describes a segment: the content of one object.
type header struct {
	At       time.Time         `json:"at"` // when the registry was in this state
	Schema   int               `json:"schema"`
	PageSize int               `json:"page_size"`
	Pages    int               `json:"pages"`   // of the database
	Changed  []int             `json:"changed"` // numbers of the pages that follow, from 0
	Sum      [sha256.Size]byte `json:"sum"`     // of the whole database
	Files    map[string][]byte `json:"files,omitempty"`
	Writer   string            `json:"writer,omitempty"` // the process, of a server with others that stand by
}

// pageSize reads the page size of a SQLite database.
func pageSize(database []byte) (int, error) {
	const head = 100
	if len(database) < head || !bytes.HasPrefix(database, []byte("SQLite format 3\x00")) {
		return 0, errors.New("not a SQLite database")
	}
	size := int(binary.BigEndian.Uint16(database[16:]))
	if size == 1 {
		size = 1 << 16
	}
	if size < 512 || len(database)%size != 0 {
		return 0, fmt.Errorf("a database of %d bytes with pages of %d", len(database), size)
	}
	return size, nil
}

// encode puts the pages of database that differ from before into a segment.
func encode(database []byte, before [][sha256.Size]byte, at time.Time, files map[string][]byte, writer string) (segment []byte, sums [][sha256.Size]byte, err error) {
	size, err := pageSize(database)
	if err != nil {
		return nil, nil, err
	}
	h := header{
		At: at.UTC(), Schema: Schema(database), PageSize: size, Pages: len(database) / size,
		Sum: sha256.Sum256(database), Files: files, Writer: writer, Changed: []int{},
	}
	var body bytes.Buffer
	for i := range h.Pages {
		page := database[i*size : (i+1)*size]
		sum := sha256.Sum256(page)
		sums = append(sums, sum)
		if i >= len(before) || before[i] != sum {
			h.Changed = append(h.Changed, i)
			body.Write(page)
		}
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, nil, err
	}
	segment = binary.BigEndian.AppendUint32(nil, uint32(len(head))) //nolint:gosec // far smaller
	return append(append(segment, head...), body.Bytes()...), sums, nil
}

// apply returns database after a segment, whose header it also returns.
func apply(database, segment []byte) ([]byte, header, error) {
	var h header
	if len(segment) < 4 {
		return nil, h, errors.New("too short")
	}
	n := int(binary.BigEndian.Uint32(segment))
	if n > len(segment)-4 {
		return nil, h, errors.New("its header is cut off")
	}
	if err := json.Unmarshal(segment[4:4+n], &h); err != nil {
		return nil, h, err
	}
	body := segment[4+n:]
	if h.PageSize <= 0 || h.Pages <= 0 || len(body) != len(h.Changed)*h.PageSize {
		return nil, h, errors.New("its length is wrong")
	}
	next := make([]byte, h.Pages*h.PageSize)
	copy(next, database)
	for i, page := range h.Changed {
		if page < 0 || page >= h.Pages {
			return nil, h, fmt.Errorf("it names the page %d of %d", page, h.Pages)
		}
		copy(next[page*h.PageSize:], body[i*h.PageSize:(i+1)*h.PageSize])
	}
	if sha256.Sum256(next) != h.Sum {
		return nil, h, errors.New("the database after it has another hash")
	}
	return next, h, nil
}

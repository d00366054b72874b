package exchange

import (
	"container/list"
	"errors"
	"io"
	"os"
	"sync"
)

const (
	// maxContent is the maximum size of a static file that is kept in memory, in bytes.
	maxContent = 64 << 10
	// maxContents is the maximum size of all files in memory, in bytes.
	maxContents = 16 << 20
	// contentCost is the memory that a file takes beside its bytes.
	contentCost = 256
)

// contents are the small static files that were sent last, in memory: an event loop may not
// wait for a disk. The files of all versions share the space; equal ones of a project are
// kept once. Those of two projects are not: the time of an answer would tell that they are
// equal.
type contents struct {
	mu    sync.Mutex
	byKey map[contentKey]*list.Element
	order list.List // of content; the one that was sent last is in front
	size  int       // of all, in bytes
}

// contentKey names the bytes of a file. Compressed forms of different releases have one id, and most
// often different sizes.
type contentKey struct {
	project, id string
	size        int64
}

type content struct {
	key   contentKey
	bytes []byte
}

// get returns a file, nil if it is not in memory. The caller must not change it.
func (c *contents) get(key contentKey) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	f, _ := e.Value.(content)
	return f.bytes
}

// read returns a file and keeps it. It may wait for the disk.
func (c *contents) read(key contentKey, path string) ([]byte, error) {
	if b := c.get(key); b != nil {
		return b, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, key.size)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() != key.size {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	c.put(key, b)
	return b, nil
}

func (c *contents) put(key contentKey, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[key] != nil {
		return // by another request
	}
	if c.byKey == nil {
		c.byKey = map[contentKey]*list.Element{}
	}
	c.byKey[key] = c.order.PushFront(content{key, b})
	c.size += len(b) + contentCost
	for c.size > maxContents {
		last, _ := c.order.Remove(c.order.Back()).(content)
		delete(c.byKey, last.key)
		c.size -= len(last.bytes) + contentCost
	}
}

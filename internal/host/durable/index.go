package durable

import (
	"encoding/binary"
	"errors"
	"os"
)

// The list of an object's facets is no database. Its rows are pages like those of one, which
// hold its length in 8 bytes, then its content. workerd appends to it when it creates a facet,
// just before the file of the facet.

// pollIndex reads the list again if it was changed.
func (f *follower) pollIndex() (*change, error) {
	now, err := stampOf(f.path)
	switch {
	case errors.Is(err, os.ErrNotExist) && f.known && f.count > 0:
		f.count, f.closed = 0, stamp{}
		return &change{}, nil
	case errors.Is(err, os.ErrNotExist):
		return nil, nil // no list
	case err == nil && f.known && now == f.closed:
		return nil, nil // nothing changed
	}
	content, err := os.ReadFile(f.path)
	if err != nil {
		return nil, err
	}
	c := indexPages(content)
	f.known, f.count, f.closed = true, c.count, now
	return c, nil
}

// indexPages are the pages of a list.
func indexPages(content []byte) *change {
	all := append(binary.BigEndian.AppendUint64(nil, uint64(len(content))), content...)
	c := &change{pages: map[uint32][]byte{}}
	for len(all) > 0 {
		c.count++
		page := make([]byte, pageSize)
		all = all[copy(page, all):]
		c.pages[c.count] = page
	}
	return c
}

// indexContent is the list that pages hold.
func indexContent(pages map[uint32][]byte) ([]byte, error) {
	var all []byte
	for n := uint32(1); n <= uint32(len(pages)); n++ { //nolint:gosec // few
		all = append(all, pages[n]...)
	}
	if len(all) < 8 || binary.BigEndian.Uint64(all) > uint64(len(all)-8) { //nolint:gosec // not negative
		return nil, errors.New("the list of facets is damaged")
	}
	return all[8 : 8+binary.BigEndian.Uint64(all)], nil
}

package rowdiff

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// ErrCorrupt says that a page does not have the form that its place requires.
var ErrCorrupt = errors.New("page is corrupt")

// Image is one state of a database, by pages, which are numbered from 1.
type Image interface {
	PageSize() int // in bytes; 0 for an empty database
	Pages() uint32
	// ReadEach calls fn once for each page of the list, in any order, one call at a
	// time. fn may keep the page and must not change it.
	ReadEach(ctx context.Context, pages []uint32, fn func(pgno uint32, page []byte) error) error
}

// Images are the two states to compare.
type Images struct {
	Base, Now Image
	// Same reports whether a page that both images have is equal in them. It may report
	// false for equal pages, which costs time only.
	Same func(pgno uint32) bool
	// Only reports whether to compare a table; nil: all.
	Only func(table string) bool
	// Every, if not nil, says of which tables Row is also called for equal rows, once or more, where
	// they are on pages that are not the same in both images. They are not counted.
	Every func(table string) bool
	// Row, if not nil, is called for each row that is counted, one call at a time. Its
	// error ends the comparison.
	Row func(Row) error
}

// Limits bound a comparison.
type Limits struct {
	Pages int       // maximum number of pages to read, of both images together
	Keyed int       // maximum number of pages of a table WITHOUT ROWID, which are in memory together; 0: no limit but Pages
	Until time.Time // zero: no limit
}

// Table counts the rows of one table that differ.
type Table struct {
	Name                       string
	Inserted, Updated, Deleted int64
	AtLeast                    bool // a limit was reached: the counts are lower bounds
}

// differs reports whether the table is worth a line.
func (t Table) differs() bool { return t.AtLeast || t.Inserted+t.Updated+t.Deleted > 0 }

// Result is a comparison.
type Result struct {
	Tables  []Table // those that differ, in order of their names
	Read    int     // pages read
	AtLeast bool    // a limit was reached: any table may have more rows that differ
}

// errLimit ends a comparison at a limit; it does not leave the package.
var errLimit = errors.New("limit reached")

// Compare counts the rows that differ.
func Compare(ctx context.Context, i Images, l Limits) (Result, error) {
	c := &comparison{images: i, limits: l, cache: map[uint32][]byte{}}
	c.base, c.now = newSide(c, i.Base), newSide(c, i.Now)
	if c.equal() {
		return Result{}, nil
	}
	err := c.run(ctx)
	r := Result{Read: c.read}
	for _, p := range c.pairs {
		if p.differs() {
			r.Tables = append(r.Tables, p.Table)
		}
		r.AtLeast = r.AtLeast || p.AtLeast
	}
	if errors.Is(err, errLimit) {
		r.AtLeast, err = true, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("compare databases: %w", err)
	}
	return r, nil
}

type comparison struct {
	images    Images
	limits    Limits
	base, now *side
	cache     map[uint32][]byte // interior pages that both images share
	pairs     []*pair
	read      int
}

// pair is one table in both images; the zero tree is a table that does not exist.
type pair struct {
	Table
	was, is   definition
	base, now tree
	changed   []uint32 // first overflow pages, in now, of rows that differ
	kept      []head   // the same of rows whose parts in the tree are equal
}

// same reports whether a page is known to be equal in both images.
func (c *comparison) same(pgno uint32) bool {
	return pgno <= c.base.pages && pgno <= c.now.pages && c.base.size == c.now.size && c.images.Same(pgno)
}

// equal reports whether no page differs.
func (c *comparison) equal() bool {
	if c.base.pages != c.now.pages {
		return false
	}
	for p := uint32(1); p <= c.now.pages; p++ {
		if !c.same(p) {
			return false
		}
	}
	return true
}

func (c *comparison) run(ctx context.Context) error {
	was, err := c.base.schema(ctx)
	if err != nil {
		return err
	}
	is, err := c.now.schema(ctx)
	if err != nil {
		return err
	}
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if c.images.Only != nil && !c.images.Only(name) {
			continue
		}
		p := &pair{Table: Table{Name: name}, was: was[name], is: is[name]}
		c.pairs = append(c.pairs, p)
		if err := c.table(ctx, p); err != nil {
			p.AtLeast = errors.Is(err, errLimit)
			return err
		}
	}
	if c.base.pages == 0 || c.now.pages == 0 {
		return nil
	}
	return c.hidden(ctx)
}

// table compares one table.
func (c *comparison) table(ctx context.Context, p *pair) (err error) {
	if p.base, err = c.base.walk(ctx, p.was); err != nil {
		return err
	}
	if p.now, err = c.now.walk(ctx, p.is); err != nil {
		return err
	}
	base, now := c.unshared(p)
	if p.base.keyed || p.now.keyed {
		return c.byKey(ctx, p, base, now)
	}
	return c.byRowID(ctx, p, base, now)
}

// unshared returns the pages with rows that are not equal parts of both trees, in the
// order of the keys.
func (c *comparison) unshared(p *pair) (base, now []uint32) {
	old := newBits(c.base.pages)
	for _, pgno := range p.base.rows {
		old.set(pgno)
	}
	both := newBits(c.base.pages)
	for _, pgno := range p.now.rows {
		if p.base.keyed == p.now.keyed && c.same(pgno) && old.has(pgno) {
			both.set(pgno)
		} else {
			now = append(now, pgno)
		}
	}
	for _, pgno := range p.base.rows {
		if !both.has(pgno) {
			base = append(base, pgno)
		}
	}
	return base, now
}

package registry

import "github.com/svcctl/svcctl/internal/svc"

// The sizes of a page. spec: Limits, page size.
const (
	defaultLimit = 50
	maxLimit     = 200
)

// positioned is a row and its place in the order of its table.
type positioned[T any] struct {
	seq int64
	row T
}

// limitOf is how many rows a page asks for.
func limitOf(p svc.PageRequest) int {
	switch {
	case p.Limit <= 0:
		return defaultLimit
	case p.Limit > maxLimit:
		return maxLimit
	}
	return p.Limit
}

// windowOf gives the two arguments of "seq < ? ... LIMIT ?": one row more than
// the page, to know whether there is a next one.
func windowOf(p svc.PageRequest) (before int64, limit int) {
	before = p.Before
	if before <= 0 {
		before = 1<<63 - 1
	}
	return before, limitOf(p) + 1
}

// cut makes a page of the rows that a query with windowOf gave.
func cut[T any](rows []positioned[T], p svc.PageRequest) svc.Page[T] {
	page := svc.Page[T]{Items: []T{}}
	if limit := limitOf(p); len(rows) > limit {
		rows = rows[:limit]
		page.Next = rows[limit-1].seq
	}
	for _, r := range rows {
		page.Items = append(page.Items, r.row)
	}
	return page
}

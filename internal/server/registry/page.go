package registry

import "github.com/svcctl/svcctl/internal/svc"

// The sizes of a page. spec: [C12.2] [C12.3].
const (
	defaultLimit = 50
	maxLimit     = 200
)

// positioned is a row and its position in the order of its table.
type positioned[T any] struct {
	seq int64
	row T
}

// limitOf returns the number of rows of a page.
func limitOf(p svc.PageRequest) int {
	switch {
	case p.Limit <= 0:
		return defaultLimit
	case p.Limit > maxLimit:
		return maxLimit
	}
	return p.Limit
}

// windowOf returns the two arguments of "seq < ? ... LIMIT ?": one row more than the
// page, to find out whether there is a next page.
func windowOf(p svc.PageRequest) (before int64, limit int) {
	before = p.Before
	if before <= 0 {
		before = 1<<63 - 1
	}
	return before, limitOf(p) + 1
}

// cut returns the page of the rows of a query with windowOf.
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

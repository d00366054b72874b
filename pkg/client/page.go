package client

import (
	"fmt"
	"iter"
)

// Page selects one page of a list. The zero value is the first page, of the
// service's default size.
type Page struct {
	Limit  int    // maximum number of items; 0 for the service's default
	Cursor string // NextCursor of the previous page; "" for the first page
}

// all yields the items of every page until the last page or an error. A cursor that comes
// again is an error: the list would have no end.
func all[T any](page func(cursor string) ([]T, *string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := map[string]bool{"": true}
		for cursor := ""; ; seen[cursor] = true {
			items, next, err := page(cursor)
			if err == nil && next != nil && seen[*next] {
				err = unexpected(fmt.Errorf("the cursor %.40q of a list came twice", *next))
			}
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			cursor = *next
		}
	}
}

package client

import "iter"

// Page selects one page of a list. The zero value is the first page, of the
// service's default size.
type Page struct {
	Limit  int    // maximum number of items; 0 for the service's default
	Cursor string // NextCursor of the previous page; "" for the first page
}

// all yields the items of every page until the last page or an error.
func all[T any](page func(cursor string) ([]T, *string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor := ""
		for {
			items, next, err := page(cursor)
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

package cli

import (
	"fmt"
	"iter"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// countTo is how far a list that --limit cuts is counted: the first page of the
// service has as many records, so that counting costs no request.
const countTo = 200

// listed is a list, perhaps cut by --limit.
type listed[T any] struct {
	items []T // never nil
	seen  int // number of records that were read
	more  bool
}

// collect reads at most limit records, all with limit 0.
func collect[T any](records iter.Seq2[T, error], limit int) (listed[T], error) {
	l := listed[T]{items: []T{}}
	for record, err := range records {
		if err != nil {
			return l, err
		}
		if l.seen++; limit <= 0 || l.seen <= limit {
			l.items = append(l.items, record)
		}
		if limit > 0 && l.seen >= max(countTo, limit+1) {
			l.more = true
			break
		}
	}
	return l, nil
}

// note says on stderr that the list is cut.
func (l listed[T]) note(k *kit.Kit) {
	total := fmt.Sprint(l.seen)
	switch {
	case l.seen <= len(l.items):
		return
	case l.more:
		total = fmt.Sprintf("%d or more", l.seen)
	}
	k.Notef("%d of %s; --limit 0 for all", len(l.items), total)
}

// print writes the list, and says on stderr that it is cut.
func (l listed[T]) print(k *kit.Kit, header []string, row func(T) []string) error {
	err := kit.PrintList(k, l.items, header, row)
	l.note(k)
	return err
}

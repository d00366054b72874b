package cli

import (
	"bytes"
	"errors"
	"iter"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// numbers yields n numbers and counts in read how many were asked for.
func numbers(n int, read *int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			*read++
			if !yield(i, nil) {
				return
			}
		}
	}
}

func TestListsSayWhenTheyAreCut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		all, limit, items, read int
		says                    string
	}{
		{all: 0, limit: 50, items: 0, read: 0},
		{all: 50, limit: 50, items: 50, read: 50},
		{all: 52, limit: 50, items: 50, read: 52, says: "50 of 52; --limit 0 for all\n"},
		{all: 52, limit: 0, items: 52, read: 52},
		{all: 900, limit: 50, items: 50, read: 200, says: "50 of 200 or more; --limit 0 for all\n"},
		{all: 900, limit: 300, items: 300, read: 301, says: "300 of 301 or more; --limit 0 for all\n"},
		{all: 900, limit: 0, items: 900, read: 900},
	} {
		var said bytes.Buffer
		read := 0
		l, err := collect(numbers(tc.all, &read), tc.limit)
		l.note(&kit.Kit{Streams: kit.Streams{Err: &said}})
		if err != nil || len(l.items) != tc.items || read != tc.read || said.String() != tc.says {
			t.Errorf("%d with limit %d: %d items, %d read, %q, %v", tc.all, tc.limit, len(l.items), read, said.String(), err)
		}
	}
	broken := errors.New("broken")
	if _, err := collect(func(yield func(int, error) bool) { yield(0, broken) }, 1); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

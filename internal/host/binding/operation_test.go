package binding_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestListLimit(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]int{"": 20, "?limit=": 20, "?limit=1": 1, "?limit=100": 100, "?limit=101": 100, "?limit=0": 0, "?limit=-1": 0, "?limit=x": 0} {
		got, err := binding.ListLimit(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+query, nil), 20, 100)
		if refused := svc.CodeOf(err) == svc.CodeInvalidLimit; got != want || refused != (want == 0) {
			t.Errorf("%q: %d, %v; want %d", query, got, err, want)
		}
	}
}

// TestPage: pages that follow each other have all items, and the last has no cursor.
func TestPage(t *testing.T) {
	t.Parallel()
	all := []string{"a", "b", "c", "d", "e"}
	var got []string
	after := ""
	for pages := 1; ; pages++ {
		rest := all[slices.Index(all, after)+1:]
		page, next, err := binding.Page(rest[:min(3, len(rest))], 2, "letters", func(i int) any { return rest[i] })
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page...)
		if next == nil {
			if pages != 3 || !slices.Equal(got, all) {
				t.Errorf("%d pages with %q", pages, got)
			}
			return
		}
		if err := binding.ReadCursor("letters", *next, &after); err != nil {
			t.Fatal(err)
		}
	}
}

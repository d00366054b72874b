//go:build simulate

package simulate

import (
	"slices"
	"testing"
)

// shrink returns a part of the list that still fails and of which no element can be left out (ddmin).
func shrink(list []int, fails func([]int) bool) []int {
	for parts := 2; len(list) > 1; {
		size := (len(list) + parts - 1) / parts
		smaller := without(list, size, fails)
		switch {
		case smaller != nil:
			list, parts = smaller, max(parts-1, 2)
		case size == 1:
			return list
		default:
			parts = min(2*parts, len(list))
		}
	}
	return list
}

// without leaves one part of the given size out so that the rest fails; nil when each part is needed.
func without(list []int, size int, fails func([]int) bool) []int {
	for from := len(list) - 1; from >= 0; from -= size { // the end first: it is needed least
		rest := slices.Concat(list[:max(from-size+1, 0)], list[from+1:])
		if fails(rest) {
			return rest
		}
	}
	return nil
}

// TestShrinkFinds: of 400 decisions those that matter are left, in few runs.
func TestShrinkFinds(t *testing.T) {
	want, runs := []int{3, 4, 77, 250, 399}, 0
	got := shrink(allDecisions(400), func(list []int) bool {
		runs++
		return !slices.ContainsFunc(want, func(n int) bool { return !slices.Contains(list, n) })
	})
	if !slices.Equal(got, want) || runs > 300 {
		t.Errorf("%v after %d runs", got, runs)
	}
	back, err := parseList(formatList(want), 0)
	if err != nil || formatList(want) != "3-4,77,250,399" || !slices.Equal(back, want) {
		t.Errorf("%s: %v, %v", formatList(want), back, err)
	}
}

//go:build simulate

package simulate

import (
	"slices"
	"testing"
)

// shrink returns a part of the list that still fails and of which no element can be left out: it leaves
// out ever smaller parts (ddmin).
func shrink(list []int, fails func([]int) bool) []int {
	for size := (len(list) + 1) / 2; size > 0; {
		smaller := leaveOut(list, size, fails)
		switch {
		case len(smaller) < len(list):
			list = smaller
		case size == 1:
			return list
		default:
			size /= 2
		}
		size = min(size, len(list))
	}
	return list
}

// leaveOut leaves out each part of the given size without which the rest fails, the last first: the end
// of a list is needed least.
func leaveOut(list []int, size int, fails func([]int) bool) []int {
	for end := len(list); end > 0; end -= size {
		rest := slices.Concat(list[:max(end-size, 0)], list[end:])
		if fails(rest) {
			list = rest
		}
	}
	return list
}

// TestShrinkFinds: of 400 decisions those that matter are left, in few runs.
func TestShrinkFinds(t *testing.T) {
	want, runs := []int{3, 4, 77, 250, 399}, 0
	got := shrink(allDecisions(400), func(list []int) bool {
		runs++
		return !slices.ContainsFunc(want, func(n int) bool { return !slices.Contains(list, n) })
	})
	if !slices.Equal(got, want) || runs > 200 {
		t.Errorf("%v after %d runs", got, runs)
	}
	back, err := parseList(formatList(want), 0)
	if err != nil || formatList(want) != "3-4,77,250,399" || !slices.Equal(back, want) {
		t.Errorf("%s: %v, %v", formatList(want), back, err)
	}
}

//go:build simulate

package simulate

import (
	"fmt"
	"strconv"
	"strings"
)

// A seed makes a list of decisions. Each has random numbers of its own, so that a decision that is
// left out does not change the others. A list is named by the indexes of its decisions.

func allDecisions(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// parseList reads a list such as "0-12,40"; "" is all of n.
func parseList(text string, n int) (list []int, err error) {
	if text == "" {
		return allDecisions(n), nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		low, err := strconv.Atoi(from)
		high := low
		if err == nil && isRange {
			high, err = strconv.Atoi(to)
		}
		if err != nil {
			return nil, fmt.Errorf("read decisions %q: want indexes such as 0-12,40", text)
		}
		for ; low <= high; low++ {
			list = append(list, low)
		}
	}
	return list, nil
}

// formatList is what parseList reads.
func formatList(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.Itoa(list[i])
		if j > i {
			part += "-" + strconv.Itoa(list[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

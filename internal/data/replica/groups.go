package replica

const (
	minute = 60_000 // milliseconds
	hour   = 60 * minute
	// maxGroup bounds the files of one merge. More are merged into several: a tier may have more points.
	maxGroup = 128
)

// groupsOf divides entries so that each group ends with the last point of a span of time, or with its
// last entry.
func groupsOf(list []Entry, span int64) (groups [][2]int) {
	from := 0
	for i, e := range list {
		if i == len(list)-1 || i-from+1 >= maxGroup || endsSpan(list, i, e.Time/span, span) {
			groups = append(groups, [2]int{from, i + 1})
			from = i + 1
		}
	}
	return groups
}

// endsSpan reports whether entry i is the last of a span of time, or its last point.
func endsSpan(list []Entry, i int, at, span int64) bool {
	for _, next := range list[i+1:] {
		switch {
		case next.Time/span != at:
			return true
		case next.IsPoint() || !list[i].IsPoint():
			return false
		}
	}
	return true
}

package replica

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/branch"
)

// TestGroups: a group ends with the last point of its minute, and with its last transaction.
func TestGroups(t *testing.T) {
	t.Parallel()
	point := func(ms int64) Entry { return Entry{Time: ms, Place: branch.Place(1, 9)} }
	plain := func(ms int64) Entry { return Entry{Time: ms, Place: branch.Place(1, 0)} }
	for name, tc := range map[string]struct {
		list []Entry
		want [][2]int
	}{
		"one":                        {[]Entry{point(1)}, [][2]int{{0, 1}}},
		"one minute":                 {[]Entry{point(1), point(2), point(3)}, [][2]int{{0, 3}}},
		"two minutes":                {[]Entry{point(1), point(2), point(minute), point(minute + 1)}, [][2]int{{0, 2}, {2, 4}}},
		"a transaction after it":     {[]Entry{point(1), point(2), plain(3), point(minute)}, [][2]int{{0, 2}, {2, 3}, {3, 4}}},
		"a transaction before it":    {[]Entry{plain(1), point(2), point(minute)}, [][2]int{{0, 2}, {2, 3}}},
		"transactions of no point":   {[]Entry{plain(1), plain(2), plain(minute)}, [][2]int{{0, 2}, {2, 3}}},
		"a time that has gone back":  {[]Entry{point(minute), point(1), point(2)}, [][2]int{{0, 1}, {1, 3}}},
		"more than one merge can do": {slices.Repeat([]Entry{point(1)}, maxGroup+1), [][2]int{{0, maxGroup}, {maxGroup, maxGroup + 1}}},
	} {
		if diff := cmp.Diff(tc.want, groupsOf(tc.list, minute)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestEntries: what a history object says of its files is read as it was written, and damage is an error.
func TestEntries(t *testing.T) {
	t.Parallel()
	list := []Entry{
		{Min: 5, Max: 5, Time: 1000, Place: branch.Place(2, 40), Off: 0, Size: 10},
		{Min: 6, Max: 9, Time: 900, Place: branch.Place(3, 0), Off: 10, Size: 300},
	}
	b := appendEntries(nil, list)
	b = b[:len(b)-lengthSize]
	got, err := decodeEntries(b, 310)
	if err != nil || !slices.Equal(got, list) {
		t.Errorf("read %+v, %v", got, err)
	}
	for n := range b {
		if _, err := decodeEntries(b[:n], 310); err == nil {
			t.Errorf("%d bytes of %d are accepted", n, len(b))
		}
	}
	if _, err := decodeEntries(b, 309); err == nil {
		t.Error("files that are longer than the object are accepted")
	}
	if _, err := decodeEntries(append(b, 0), 310); err == nil {
		t.Error("more bytes are accepted")
	}
}

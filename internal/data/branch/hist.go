package branch

import (
	"fmt"
	"strings"
	"time"
)

// The tiers of history, densest first: every point, and points of each minute and hour.
const (
	TierSeconds = "s"
	TierMinutes = "m"
	TierHours   = "h"
)

// Hist names one history object: files of one database that lead from transaction Min to Max, and
// the times of the first and the last of them, in milliseconds. Its points can be found by its name
// alone, so that a sweep needs no owner.
type Hist struct {
	Prefix   string // see DatabasePrefix
	Tier     string
	Min, Max uint64
	From, To int64
	First    bool // nothing continues to Min: history began here, or was off before
	Size     int64
	Modified time.Time // by the object store
}

const (
	histEnd  = ".hist"
	firstEnd = "-first" + histEnd
)

// HistPrefix is where all history of a database lies.
func HistPrefix(prefix string) string { return prefix + "/hist/" }

// Key is the name of the object.
func (h Hist) Key() string {
	end := histEnd
	if h.First {
		end = firstEnd
	}
	return fmt.Sprintf("%s%s/%016x-%016x-%012x-%012x%s", HistPrefix(h.Prefix), h.Tier, h.Min, h.Max, h.From, h.To, end)
}

// ParseHist is the reverse of Key; ok is false for other keys.
func ParseHist(key string) (h Hist, ok bool) {
	prefix, rest, found := strings.Cut(key, "/hist/")
	if !found || len(rest) < 2 {
		return h, false
	}
	h = Hist{Prefix: prefix, Tier: rest[:1], First: strings.HasSuffix(rest, firstEnd)}
	n, err := fmt.Sscanf(rest[2:], "%016x-%016x-%012x-%012x", &h.Min, &h.Max, &h.From, &h.To)
	known := h.Tier == TierSeconds || h.Tier == TierMinutes || h.Tier == TierHours
	return h, err == nil && n == 4 && known && h.Min > 0 && h.Min <= h.Max && h.Key() == key
}

// The number in the header of a log file (NodeID) places it in the history of its version: sumBits of
// the sum of the newest transactions of all databases, 0 for a file that ends at no point, and above
// them the epoch of the owner that made it.
const sumBits = 40

// Place returns that number.
func Place(epoch, sum uint64) uint64 { return epoch<<sumBits | sum&(1<<sumBits-1) }

// PlaceOf is the reverse of Place.
func PlaceOf(n uint64) (epoch, sum uint64) { return n >> sumBits, n & (1<<sumBits - 1) }

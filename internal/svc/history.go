package svc

import "time"

// History is how long points of the past are kept. The zero value keeps none.
type History struct {
	Seconds time.Duration // every point
	Minutes time.Duration // the points of each minute
	Hours   time.Duration // the points of each hour
	MaxSize int64         // bytes of a version's history; 0 for three times its data, at least 1 GiB
}

// MaxHistory is the largest time.
const MaxHistory = 400 * 24 * time.Hour

// Off reports whether nothing is kept.
func (h History) Off() bool { return h.Longest() <= 0 }

// Longest is how long the oldest point is kept.
func (h History) Longest() time.Duration { return max(h.Seconds, h.Minutes, h.Hours) }

// Least returns what both keep.
func (h History) Least(o History) History {
	least := History{Seconds: min(h.Seconds, o.Seconds), Minutes: min(h.Minutes, o.Minutes), Hours: min(h.Hours, o.Hours), MaxSize: h.MaxSize}
	if o.MaxSize > 0 && (h.MaxSize == 0 || o.MaxSize < h.MaxSize) {
		least.MaxSize = o.MaxSize
	}
	return least
}

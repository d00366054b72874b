package svc

import "time"

// History is how long points of the past are kept. The zero value keeps none.
type History struct {
	Seconds time.Duration //nolint:staticcheck // of the points of each second, beside Minutes and Hours
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

// checkParentAt checks NewVersion.ParentAt. Clocks may differ by a minute.
func (n NewVersion) checkParentAt(now time.Time) []FieldError {
	switch {
	case n.ParentAt.IsZero():
		return nil
	case n.ParentID == "":
		return []FieldError{{"/parent_at", CodeInvalidMoment, "name the version whose data it is of (parent_version_id)"}}
	case n.ParentAt.After(now.Add(time.Minute)):
		return []FieldError{{"/parent_at", CodeInvalidMoment, "the moment is in the future"}}
	}
	return nil
}

// HistoryOff is the error of a server, or a project, that keeps no history.
func HistoryOff() *Error {
	return Errorf(Unprocessable, CodeHistoryOff, "no history is kept, so there is no data of the past").
		WithHint("set SVC_HISTORY=1h/1d/7d, and do not turn svcctl.history off in the project file of production")
}

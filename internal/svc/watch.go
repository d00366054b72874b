package svc

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// WatchState is the state of a watch over a release.
type WatchState string

// The states of a watch. It has none before the release is done.
const (
	WatchWatching WatchState = "watching"
	WatchPassed   WatchState = "passed"  // the time is over, the limit was kept
	WatchAborted  WatchState = "aborted" // the earlier code is production again, with the data kept
	WatchStopped  WatchState = "stopped" // it ended without a result; Watch.Detail says why
)

// Watch is a watch over the production that a release made. The zero value is none.
type Watch struct {
	For       time.Duration `json:"for,omitempty"`
	AbortOn   string        `json:"abort_on,omitempty"`
	State     WatchState    `json:"state,omitempty"`
	Until     time.Time     `json:"until,omitzero"`
	Detail    string        `json:"detail,omitempty"`
	Operation string        `json:"operation_id,omitempty"` // of the release that goes back
}

// Begun returns the watch as it begins now; none stays none.
func (w Watch) Begun(now time.Time) Watch {
	if w.For > 0 && w.State == "" {
		w.State, w.Until = WatchWatching, now.Add(w.For)
	}
	return w
}

// MaxWatch is the longest watch.
const MaxWatch = 24 * time.Hour

// minWatched is the number of requests from which their share and quantile count.
const minWatched = 20

// WatchRule is a limit whose excess ends a release.
type WatchRule struct {
	metric string // "errors", "exceptions" or "p95"
	share  bool   // of errors: limit is in percent of all requests
	limit  float64
	text   string
}

var errWatchRule = errors.New(`want errors>1%, errors>20, exceptions>0 or p95>500ms`)

// ParseWatchRule reads a limit such as "errors>1%", "errors>20", "exceptions>0" or "p95>500ms".
func ParseWatchRule(text string) (WatchRule, error) {
	metric, value, ok := strings.Cut(text, ">")
	r := WatchRule{metric: strings.TrimSpace(metric)}
	value = strings.TrimSpace(value)
	r.text = value
	switch {
	case !ok:
		return r, errWatchRule
	case r.metric == "p95":
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return r, errWatchRule
		}
		r.limit = float64(d)
		return r, nil
	case r.metric != "errors" && r.metric != "exceptions":
		return r, errWatchRule
	}
	number, share := strings.CutSuffix(value, "%")
	limit, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(limit) || limit < 0 || share && (limit >= 100 || r.metric != "errors") || !share && limit != math.Trunc(limit) {
		return r, errWatchRule
	}
	r.share, r.limit = share, limit
	return r, nil
}

// Exceeded reports whether traffic exceeds the limit, and says how. Errors are answers with 5xx
// and requests whose worker threw. A share and a quantile need 20 requests.
func (r WatchRule) Exceeded(t Traffic) (detail string, exceeded bool) {
	errs := max(t.Errors, t.Exceptions)
	enough := t.Requests >= minWatched
	switch {
	case r.metric == "p95":
		return fmt.Sprintf("p95 %s > %s", t.P95.Round(time.Millisecond), r.text), enough && float64(t.P95) > r.limit
	case r.metric == "exceptions":
		return fmt.Sprintf("exceptions %d > %s", t.Exceptions, r.text), float64(t.Exceptions) > r.limit
	case !r.share:
		return fmt.Sprintf("errors %d > %s", errs, r.text), float64(errs) > r.limit
	}
	share := 100 * float64(errs) / float64(max(t.Requests, 1))
	return fmt.Sprintf("errors %s%% > %s", strconv.FormatFloat(math.Round(share*10)/10, 'f', -1, 64), r.text), enough && share > r.limit
}

// problems are what is wrong with the parameters of a watch.
func (w ReleaseWatch) problems() (fields []FieldError) {
	if w == (ReleaseWatch{}) {
		return nil
	}
	if w.For < time.Second || w.For > MaxWatch {
		fields = append(fields, FieldError{"/watch/seconds", CodeInvalidRelease, fmt.Sprintf("want 1 to %d", MaxWatch/time.Second)})
	}
	if _, err := ParseWatchRule(w.AbortOn); err != nil {
		fields = append(fields, FieldError{"/watch/abort_on", CodeInvalidRelease, err.Error()})
	}
	return fields
}

package logs

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// levels are the ranks of levels.
//
//nolint:gochecknoglobals // a constant table
var levels = map[string]int{"debug": 0, "log": 1, "info": 1, "warn": 2, "error": 3, "fatal": 4}

const minRequestID = 4 // characters of a request id that select by it

// Check returns an error for a query that cannot be meant.
func Check(q svc.LogQuery) error {
	if _, ok := levels[q.Level]; q.Level != "" && !ok {
		return invalid("level", "debug, info, warn or error")
	}
	if q.Status != "" && !validStatus(q.Status) {
		return invalid("status", "a status such as 404, or a class such as 5xx")
	}
	if q.RequestID != "" && len(q.RequestID) < minRequestID {
		return invalid("request", "a request id, or its first four characters or more")
	}
	return nil
}

func invalid(name, want string) error {
	return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "the parameter %s must be %s", name, want)
}

func validStatus(s string) bool {
	n, err := strconv.Atoi(strings.Replace(strings.ToLower(s), "xx", "00", 1))
	return err == nil && len(s) == 3 && n >= 100 && n < 600
}

// Limits of what a filter remembers.
const (
	maxHeldLines = 4096
	maxMatched   = 1024
)

// filter selects entries. Status, path and request id select invocations: the entries of
// one are held until it is over, then come before the entry that says so.
type filter struct {
	q      svc.LogQuery
	search string
	path   *regexp.Regexp // nil for any
	joins  bool

	held    []svc.LogLine
	matched map[string]bool // invocations that are over and were selected
	order   []string        // of matched, oldest first
}

func newFilter(q svc.LogQuery) *filter {
	f := &filter{q: q, search: strings.ToLower(q.Search), joins: q.Status != "" || q.Path != "" || q.RequestID != "", matched: map[string]bool{}}
	if q.Path != "" {
		f.path = glob(q.Path)
	}
	return f
}

// plain reports whether the filter selects every entry.
func (f *filter) plain() bool {
	return !f.joins && f.search == "" && f.q.Level == "" && f.q.Since.IsZero()
}

// add takes the next entry and returns those that are selected by now.
func (f *filter) add(l svc.LogLine) []svc.LogLine {
	switch {
	case l.Source == svc.LogGap:
		return []svc.LogLine{l}
	case !f.joins:
		return f.entries(l)
	case l.Invocation != nil:
		held := f.release(l.RequestID)
		if !f.invocation(&l) {
			return nil
		}
		f.remember(l.RequestID)
		return f.entries(append(held, l)...)
	case f.matched[l.RequestID], f.q.Status == "" && f.q.Path == "" && f.names(&l):
		return f.entries(l)
	case l.RequestID != "":
		f.hold(l)
	}
	return nil
}

// entries are those of list that are selected by themselves.
func (f *filter) entries(list ...svc.LogLine) []svc.LogLine {
	return slices.DeleteFunc(list, func(l svc.LogLine) bool {
		return l.Time.Before(f.q.Since) || f.q.Level != "" && levels[l.Level] < levels[f.q.Level] ||
			f.search != "" && !strings.Contains(strings.ToLower(l.Message), f.search)
	})
}

// invocation reports whether the invocation that l ends is selected.
func (f *filter) invocation(l *svc.LogLine) bool {
	i := l.Invocation
	return (f.q.RequestID == "" || f.names(l) || i.ClientID == f.q.RequestID) &&
		(f.q.Status == "" || statusMatches(f.q.Status, i.Status)) &&
		(f.path == nil || f.path.MatchString(i.Path))
}

// names reports whether the query names the request id of l: the id of a response begins
// with that of its invocation.
func (f *filter) names(l *svc.LogLine) bool {
	return l.RequestID != "" && (strings.HasPrefix(l.RequestID, f.q.RequestID) || strings.HasPrefix(f.q.RequestID, l.RequestID))
}

func statusMatches(want string, status int) bool {
	have := strconv.Itoa(status)
	if strings.EqualFold(want[1:], "xx") {
		return have[0] == want[0]
	}
	return have == want
}

// glob makes the pattern of a path: "*" stands for any text, "/" included. A pattern
// without a query matches a path with any query.
func glob(pattern string) *regexp.Regexp {
	text := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
	if !strings.Contains(pattern, "?") {
		text += `(\?.*)?`
	}
	return regexp.MustCompile(`^` + text + `$`)
}

func (f *filter) hold(l svc.LogLine) {
	if len(f.held) == maxHeldLines {
		f.held = slices.Delete(f.held, 0, maxHeldLines/4)
	}
	f.held = append(f.held, l)
}

// release takes what is held of an invocation.
func (f *filter) release(id string) (list []svc.LogLine) {
	f.held = slices.DeleteFunc(f.held, func(l svc.LogLine) bool {
		if l.RequestID != id {
			return false
		}
		list = append(list, l)
		return true
	})
	return list
}

func (f *filter) remember(id string) {
	if id == "" || f.matched[id] {
		return
	}
	if len(f.order) == maxMatched {
		delete(f.matched, f.order[0])
		f.order = f.order[1:]
	}
	f.matched[id] = true
	f.order = append(f.order, id)
}

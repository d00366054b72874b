package cronexpr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxLength is the length of the longest expression, in bytes.
const MaxLength = 256

// Parse reads an expression. The error says which field is wrong and why.
func Parse(text string) (Schedule, error) {
	s := Schedule{text: strings.TrimSpace(text)}
	if err := s.parse(); err != nil {
		if len(text) > MaxLength {
			text = text[:MaxLength] + "…"
		}
		return Schedule{}, fmt.Errorf("cron expression %q: %w", text, err)
	}
	return s, nil
}

func (s *Schedule) parse() (err error) {
	if len(s.text) > MaxLength {
		return fmt.Errorf("it has more than %d bytes", MaxLength)
	}
	f := strings.Fields(s.text)
	if len(f) != 5 {
		return fmt.Errorf("it has %d fields, not 5 (minute, hour, day of month, month, day of week)", len(f))
	}
	if s.minute, err = minutes.list(f[0]); err != nil {
		return err
	}
	if s.hour, err = hours.list(f[1]); err != nil {
		return err
	}
	if s.dayOfMonth, err = parseDayOfMonth(f[2]); err != nil {
		return err
	}
	if s.month, err = months.list(f[3]); err != nil {
		return err
	}
	if s.weekday, err = parseWeekday(f[4]); err != nil {
		return err
	}
	if s.Next(time.Unix(0, 0)).IsZero() {
		return fmt.Errorf("it is never due")
	}
	return nil
}

// field is one field: its name, its values, and their names from the first one on.
type field struct {
	name     string
	min, max int
	names    []string
}

//nolint:gochecknoglobals // constant tables
var (
	minutes     = field{"minute", 0, 59, nil}
	hours       = field{"hour", 0, 23, nil}
	daysOfMonth = field{"day of month", 1, 31, nil}
	months      = field{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}}
	weekdays    = field{"day of week", 1, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}
)

func (f field) errorf(format string, args ...any) error {
	return fmt.Errorf("the %s field: %s", f.name, fmt.Sprintf(format, args...))
}

// list reads values, ranges and steps, separated by commas.
func (f field) list(text string) (list set, err error) {
	items := strings.Split(text, ",")
	for _, item := range items {
		if item == "*" && len(items) > 1 {
			return 0, f.errorf("* cannot be in a list")
		}
		one, err := f.item(item)
		if err != nil {
			return 0, err
		}
		list |= one
	}
	return list, nil
}

// item reads a value, a range or *, each with or without a step.
func (f field) item(text string) (set, error) {
	span, stepText, stepped := strings.Cut(text, "/")
	first, last, err := f.span(span, stepped)
	if err != nil {
		return 0, err
	}
	step := 1
	if stepped {
		if step = digits(stepText); step < 1 || step > f.max-f.min {
			return 0, f.errorf("the step of %q must be a number from 1 to %d", text, f.max-f.min)
		}
	}
	var list set
	for v := first; v <= last; v += step {
		list |= 1 << v
	}
	return list, nil
}

// span reads a value, a range or *. A value with a step begins a range to the end.
func (f field) span(text string, stepped bool) (first, last int, err error) {
	if text == "*" {
		return f.min, f.max, nil
	}
	from, to, isRange := strings.Cut(text, "-")
	if first, err = f.value(from); err != nil {
		return 0, 0, err
	}
	switch {
	case isRange:
		if last, err = f.value(to); err != nil {
			return 0, 0, err
		}
	case stepped:
		last = f.max
	default:
		last = first
	}
	if first > last {
		return 0, 0, f.errorf("the range %q runs backwards; write %s-%d,%d-%s", text, from, f.max, f.min, to)
	}
	return first, last, nil
}

// value reads a number or a name.
func (f field) value(text string) (int, error) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.min + i, nil
	}
	switch v := digits(text); {
	case v >= f.min && v <= f.max:
		return v, nil
	case text == "?":
		return 0, f.errorf("? is not supported; write *")
	case v == 0 && f.name == weekdays.name:
		return 0, f.errorf("0 is not a day: days are 1 (Sunday) to 7 (Saturday)")
	case v >= 0:
		return 0, f.errorf("%d is not from %d to %d", v, f.min, f.max)
	}
	return 0, f.errorf("%q is not understood", text)
}

// digits reads a number; -1 for another text.
func digits(text string) int {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

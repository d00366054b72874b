package cronexpr

import "strings"

// days computes the due days of a month. Days that the month does not have may be among
// them.
type days func(m month) set

// day is the set of one day; empty for 0.
func day(n int) set {
	if n < 1 {
		return 0
	}
	return 1 << n
}

// parseDayOfMonth reads the third field; nil for "*".
func parseDayOfMonth(text string) (days, error) {
	f := daysOfMonth
	switch offset, isOffset := strings.CutPrefix(text, "L-"); {
	case text == "*":
		return nil, nil // nil is every day
	case text == "L":
		return func(m month) set { return day(m.last) }, nil
	case text == "LW":
		return func(m month) set { return day(m.nearest(m.last)) }, nil
	case isOffset:
		offset, nearest := strings.CutSuffix(offset, "W")
		n := digits(offset)
		if n < 1 || n > 30 {
			return nil, f.errorf("%q: want L- and a number from 1 to 30", text)
		}
		return func(m month) set {
			if nearest {
				return day(m.nearest(m.last - n))
			}
			return day(m.last - n)
		}, nil
	case strings.HasSuffix(text, "W"):
		n, err := f.value(strings.TrimSuffix(text, "W"))
		return func(m month) set { return day(m.nearest(n)) }, err
	}
	list, err := f.list(text)
	return func(month) set { return list }, err
}

// parseWeekday reads the fifth field; nil for "*".
func parseWeekday(text string) (days, error) {
	f := weekdays
	switch name, nth, isNth := strings.Cut(text, "#"); {
	case text == "*":
		return nil, nil // nil is every day
	case text == "L":
		return weekly(day(saturday)), nil
	case isNth:
		want, err := f.value(name)
		n := digits(nth)
		if err == nil && (n < 1 || n > 5) {
			err = f.errorf("%q: want a number from 1 to 5 after #", text)
		}
		return func(m month) set { return day(m.first7(want) + 7*(n-1)) }, err
	case strings.HasSuffix(text, "L"):
		want, err := f.value(strings.TrimSuffix(text, "L"))
		return func(m month) set { return day(m.first7(want) + (m.last-m.first7(want))/7*7) }, err
	}
	list, err := f.list(text)
	return weekly(list), err
}

// first7 returns the first day of a month with a weekday.
func (m month) first7(weekday int) int { return (weekday-m.weekday(1)+7)%7 + 1 }

// weekly returns every day with one of the weekdays.
func weekly(list set) days {
	return func(m month) (due set) {
		for d := 1; d <= m.last; d++ {
			if list.has(m.weekday(d)) {
				due |= day(d)
			}
		}
		return due
	}
}

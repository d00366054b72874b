package cronexpr

import (
	"math/bits"
	"time"
)

// Schedule is a parsed expression. It is immutable. The zero value is never due.
type Schedule struct {
	text                string
	minute, hour, month set
	dayOfMonth          days // nil for "*"
	weekday             days // nil for "*"
}

// String returns the expression as it was written, without space around it.
func (s Schedule) String() string { return s.text }

// cycle is the number of months after which the calendar repeats: every combination of
// month, day and weekday is in it.
const cycle = 400 * 12

// Next returns the first due minute after a time, in UTC. It is zero only for the zero
// Schedule: Parse rejects expressions that are never due.
func (s Schedule) Next(after time.Time) time.Time {
	at := after.UTC().Truncate(time.Minute).Add(time.Minute)
	m := monthOf(at)
	first, hour, minute := at.Day(), at.Hour(), at.Minute()
	for range cycle {
		if s.month.has(int(m.month)) {
			for day := s.day(m, first); day > 0; day = s.day(m, day+1) {
				if day != first {
					hour, minute = 0, 0
				}
				if h, min, ok := s.time(hour, minute); ok {
					return time.Date(m.year, m.month, day, h, min, 0, 0, time.UTC)
				}
			}
		}
		m, first, hour, minute = m.next(), 1, 0, 0
	}
	return time.Time{}
}

// day returns the first due day of a month from a day on; -1 for none.
func (s Schedule) day(m month, from int) int {
	due := all(1, m.last)
	switch {
	case s.dayOfMonth != nil && s.weekday != nil:
		due = s.dayOfMonth(m) | s.weekday(m)
	case s.dayOfMonth != nil:
		due = s.dayOfMonth(m)
	case s.weekday != nil:
		due = s.weekday(m)
	}
	return (due & all(1, m.last)).from(from)
}

// time returns the first due time of a day from a time on.
func (s Schedule) time(hour, minute int) (h, m int, ok bool) {
	if m = s.minute.from(minute); m >= 0 && s.hour.has(hour) {
		return hour, m, true
	}
	h = s.hour.from(hour + 1)
	return h, s.minute.from(0), h >= 0
}

// set is a set of numbers below 64.
type set uint64

func all(first, last int) set { return 1<<(last+1) - 1<<first }

func (s set) has(n int) bool { return s>>n&1 == 1 }

// from returns the first member from n on; -1 for none.
func (s set) from(n int) int {
	if rest := s &^ (1<<n - 1); rest != 0 {
		return bits.TrailingZeros64(uint64(rest))
	}
	return -1
}

// month is a month of the calendar.
type month struct {
	year  int
	month time.Month
	last  int          // its last day
	first time.Weekday // of its first day
}

func monthOf(t time.Time) month {
	first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	return month{first.Year(), first.Month(), first.AddDate(0, 1, -1).Day(), first.Weekday()}
}

func (m month) next() month { return monthOf(time.Date(m.year, m.month+1, 1, 0, 0, 0, 0, time.UTC)) }

// weekday returns the weekday of a day, 1 for Sunday.
func (m month) weekday(day int) int { return (int(m.first)+day-1)%7 + 1 }

// nearest returns the day from Monday to Friday that is nearest to a day, in the same
// month; 0 for a day that the month does not have.
func (m month) nearest(day int) int {
	if day < 1 || day > m.last {
		return 0
	}
	switch m.weekday(day) {
	case sunday:
		if day == m.last {
			return day - 2
		}
		return day + 1
	case saturday:
		if day == 1 {
			return day + 2
		}
		return day - 1
	}
	return day
}

const (
	sunday   = 1
	saturday = 7
)

package cronexpr_test

import (
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/cronexpr"
)

// TestNext checks the due times that follow a Sunday, 2026-11-22 21:05 UTC.
func TestNext(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"* * * * *":                            "11-22 21:06, 11-22 21:07",
		"5 21 * * *":                           "11-23 21:05, 11-24 21:05",
		"*/20 * * * *":                         "11-22 21:20, 11-22 21:40, 11-22 22:00",
		"10/20 * * * *":                        "11-22 21:10, 11-22 21:30, 11-22 21:50, 11-22 22:10",
		"0-10/5,30 0 * * *":                    "11-23 00:00, 11-23 00:05, 11-23 00:10, 11-23 00:30, 11-24 00:00",
		"0 22-23,0-2 * * *":                    "11-22 22:00, 11-22 23:00, 11-23 00:00, 11-23 01:00, 11-23 02:00, 11-23 22:00",
		"45 23 * * 1":                          "11-22 23:45, 11-29 23:45",
		"0 17 * * sun":                         "11-29 17:00, 12-06 17:00",
		"10 7 * * MON-fri":                     "11-23 07:10, 11-24 07:10, 11-25 07:10, 11-26 07:10, 11-27 07:10, 11-30 07:10",
		"10 7 * * 2-6":                         "11-23 07:10, 11-24 07:10, 11-25 07:10, 11-26 07:10, 11-27 07:10, 11-30 07:10",
		"0 0 * * 7":                            "11-28 00:00, 12-05 00:00",
		"0 0 * * L":                            "11-28 00:00, 12-05 00:00",
		"0 18 * * 6L":                          "11-27 18:00, 12-25 18:00, 01-29 18:00",
		"0 18 * * friL":                        "11-27 18:00, 12-25 18:00",
		"0 0 * * 2#1":                          "12-07 00:00, 01-04 00:00",
		"0 0 * * sun#5":                        "11-29 00:00, 01-31 00:00, 05-30 00:00",
		"0 15 1W * *":                          "12-01 15:00, 01-01 15:00, 02-01 15:00, 03-01 15:00, 04-01 15:00, 05-03 15:00",
		"0 0 31W * *":                          "12-31 00:00, 01-29 00:00, 03-31 00:00",
		"0 0 22W * *":                          "11-23 00:00, 12-22 00:00, 01-22 00:00, 02-22 00:00, 03-22 00:00",
		"59 23 LW * *":                         "11-30 23:59, 12-31 23:59, 01-29 23:59, 02-26 23:59",
		"0 0 L * *":                            "11-30 00:00, 12-31 00:00, 01-31 00:00, 02-28 00:00",
		"0 0 L-2 * *":                          "11-28 00:00, 12-29 00:00",
		"0 0 L-2W * *":                         "11-27 00:00, 12-29 00:00",
		"0 0 L-30 * *":                         "12-01 00:00, 01-01 00:00, 03-01 00:00",
		"0 0 1,15 * *":                         "12-01 00:00, 12-15 00:00",
		"0 0 30 * 4":                           "11-25 00:00, 11-30 00:00, 12-02 00:00", // both day fields: one of them
		"0 0 */10 * 4":                         "11-25 00:00, 12-01 00:00, 12-02 00:00",
		"0 0 * FEB,aug *":                      "02-01 00:00, 02-02 00:00",
		"0 0 29 2 *":                           "02-29 00:00", // 2028
		"  0   12 1 JAN-MAR/2\t* ":             "01-01 12:00, 03-01 12:00, 01-01 12:00",
		"59 23 31 12 *":                        "12-31 23:59, 12-31 23:59",
		"0 0 1 1 1":                            "01-01 00:00, 01-03 00:00",
		"30 21 22 11 *":                        "11-22 21:30, 11-22 21:30",
		"0-4 21 * * *":                         "11-23 21:00, 11-23 21:01",
		"6 21 * * *":                           "11-22 21:06",
		"0 */6 * * *":                          "11-23 00:00, 11-23 06:00, 11-23 12:00, 11-23 18:00",
		"0 0 5W 7 *":                           "07-05 00:00", // 2027: a Monday
		strings.Repeat("1,", 50) + "1 0 * * *": "11-23 00:01",
	} {
		s, err := cronexpr.Parse(expression)
		if err != nil {
			t.Error(err)
			continue
		}
		at := time.Date(2026, time.November, 22, 21, 5, 0, 0, time.UTC)
		var got []string
		for range strings.Count(want, ",") + 1 {
			at = s.Next(at)
			got = append(got, at.Format("01-02 15:04"))
		}
		if list := strings.Join(got, ", "); list != want {
			t.Errorf("%q is due at %s, want %s", expression, list, want)
		}
		if s.String() != strings.TrimSpace(expression) {
			t.Errorf("%q became %q", expression, s)
		}
	}
}

// TestNextIsStrict: the time that is asked about is not due again, and seconds and zones
// of it do not matter.
func TestNextIsStrict(t *testing.T) {
	t.Parallel()
	s, err := cronexpr.Parse("*/5 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, time.November, 22, 23, 55, 0, 0, time.FixedZone("", 1800))
	for _, after := range []time.Time{at, at.Add(time.Nanosecond), at.Add(5*time.Minute - time.Nanosecond)} {
		if got := s.Next(after); !got.Equal(at.Add(5*time.Minute)) || got.Location() != time.UTC {
			t.Errorf("after %s: %s", after, got)
		}
	}
	if got := (cronexpr.Schedule{}).Next(at); !got.IsZero() {
		t.Errorf("the zero Schedule is due at %s", got)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"":                          "it has 0 fields, not 5",
		"* * * *":                   "it has 4 fields, not 5",
		"* * * * * *":               "it has 6 fields, not 5",
		"@daily":                    "it has 1 fields, not 5",
		"60 * * * *":                "the minute field: 60 is not from 0 to 59",
		"-1 * * * *":                `the minute field: "" is not understood`,
		"* 24 * * *":                "the hour field: 24 is not from 0 to 23",
		"* * 0 * *":                 "the day of month field: 0 is not from 1 to 31",
		"* * 32W * *":               "the day of month field: 32 is not from 1 to 31",
		"* * 1,L * *":               `the day of month field: "L" is not understood`,
		"* * L-0 * *":               `the day of month field: "L-0": want L- and a number from 1 to 30`,
		"* * L-31W * *":             `the day of month field: "L-31W": want L- and a number from 1 to 30`,
		"* * * 13 *":                "the month field: 13 is not from 1 to 12",
		"* * * january *":           `the month field: "january" is not understood`,
		"* * * * 0":                 "the day of week field: 0 is not a day: days are 1 (Sunday) to 7 (Saturday)",
		"* * * * 8":                 "the day of week field: 8 is not from 1 to 7",
		"* * * * 2#6":               `the day of week field: "2#6": want a number from 1 to 5 after #`,
		"* * * * 8L":                "the day of week field: 8 is not from 1 to 7",
		"* * ? * *":                 "the day of month field: ? is not supported; write *",
		"*,5 * * * *":               "the minute field: * cannot be in a list",
		"*/0 * * * *":               `the minute field: the step of "*/0" must be a number from 1 to 59`,
		"* */24 * * *":              `the hour field: the step of "*/24" must be a number from 1 to 23`,
		"*/ * * * *":                `the minute field: the step of "*/" must be a number from 1 to 59`,
		"1-2-3 * * * *":             `the minute field: "2-3" is not understood`,
		"* 22-2 * * *":              `the hour field: the range "22-2" runs backwards; write 22-23,0-2`,
		"* * * * sat-sun":           `the day of week field: the range "sat-sun" runs backwards; write sat-7,1-sun`,
		"0 0 30 2 *":                "it is never due",
		"0 0 31 4,6,9,11 *":         "it is never due",
		strings.Repeat("0", 300):    "it has more than 256 bytes",
		"99999999999999999 * * * *": `"99999999999999999" is not understood`,
	} {
		if _, err := cronexpr.Parse(expression); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 450 {
			t.Errorf("%q: %v, want %s", expression, err, want)
		}
	}
}

// FuzzNext: Parse never panics, and what it accepts is due again and again: always a
// whole minute, always later.
func FuzzNext(f *testing.F) {
	for _, s := range []string{"* * * * *", "*/7 1-5/2 LW jan-dec fri#5", "0 0 L-3W 2 6L", "0 0 29 2 *", "1,2,3 4 5W * sun,mon"} {
		f.Add(s, int64(1_795_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		s, err := cronexpr.Parse(text)
		if err != nil {
			return
		}
		if again, err := cronexpr.Parse(s.String()); err != nil || again.String() != s.String() {
			t.Fatalf("%q is not read again: %v", s, err)
		}
		at := time.Unix(((unix%4e9)+4e9)%4e9, 0)
		for range 3 {
			next := s.Next(at)
			if !next.After(at) || next.Second() != 0 {
				t.Fatalf("%q: %s after %s", s, next, at)
			}
			if earlier := s.Next(next.Add(-time.Second)); !earlier.Equal(next) {
				t.Fatalf("%q: %s is due, and after the second before it %s", s, next, earlier)
			}
			at = next
		}
	})
}

func BenchmarkNext(b *testing.B) {
	s, err := cronexpr.Parse("0 0 29 2 *")
	if err != nil {
		b.Fatal(err)
	}
	at := time.Date(2026, time.November, 22, 21, 5, 0, 0, time.UTC)
	for b.Loop() {
		s.Next(at)
	}
}

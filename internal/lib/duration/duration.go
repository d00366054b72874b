package duration

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Parse reads a duration that is not negative: Go's, with d for days; a whole number without
// a unit is seconds; off is 0 [D24].
func Parse(v string) (time.Duration, error) {
	if v == "off" {
		return 0, nil
	}
	if n, err := strconv.ParseInt(v, 10, 32); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, nil
	}
	days, rest, ok := strings.Cut(v, "d")
	if !ok {
		days, rest = "0", v
	}
	n, err := strconv.ParseUint(days, 10, 16)
	d := time.Duration(0)
	if err == nil && rest != "" {
		d, err = time.ParseDuration(rest)
	}
	if err != nil || v == "" || d < 0 {
		return 0, errors.New("want a duration such as 90s, 15m, 12h or 3d")
	}
	return time.Duration(n)*24*time.Hour + d, nil
}

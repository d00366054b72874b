package text

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

var errForm = errors.New("want a duration such as 90s, 15m, 12h or 3d")

// Duration reads a duration that is not negative: Go's, with d for days before the rest.
func Duration(v string) (time.Duration, error) {
	days, rest, ok := strings.Cut(v, "d")
	if !ok {
		days, rest = "0", v
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil || v == "" {
		return 0, errForm
	}
	d := time.Duration(0)
	if rest != "" {
		if d, err = time.ParseDuration(rest); err != nil || d < 0 {
			return 0, errForm
		}
	}
	if d > math.MaxInt64-time.Duration(n)*day {
		return 0, errForm
	}
	return time.Duration(n)*day + d, nil
}

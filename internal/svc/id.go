package svc

import (
	"slices"
	"strings"
	"time"
)

var (
	idPattern     = pattern(`^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$`) //nolint:gochecknoglobals // a constant
	digestPattern = pattern(`^sha256:[0-9a-f]{64}$`)                  //nolint:gochecknoglobals // a constant
)

// CheckID returns nil if id can name a project or a version, else Unprocessable
// invalid_id. Ids are DNS labels without "--" [D1].
func CheckID(id string) error {
	switch {
	case !idPattern().MatchString(id):
		return Errorf(Unprocessable, CodeInvalidID,
			"an id has 1 to 63 of a-z, 0-9 and '-', and starts and ends with a letter or digit")
	case strings.Contains(id, "--"):
		return Errorf(Unprocessable, CodeInvalidID, "an id may not hold '--'")
	}
	return nil
}

// CheckProjectID is CheckID plus the reserved names [D1].
func CheckProjectID(id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	if slices.Contains([]string{"www", "api", "v1", "health", "metrics", "admin", "localhost"}, id) {
		return Errorf(Unprocessable, CodeIDReserved, "%q is reserved: choose another project id", id)
	}
	return nil
}

// ValidDigest reports whether d is "sha256:" and 64 lower-case hex digits.
func ValidDigest(d string) bool { return digestPattern().MatchString(d) }

// GeneratedID returns the id of a version created at t without an id; if the id
// is taken, the caller tries the next second [D2].
func GeneratedID(t time.Time) string { return "v-" + t.UTC().Format("20060102150405") }

package svc

import (
	"net/url"
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

// CheckProjectID is CheckID plus the reserved name [D1].
func CheckProjectID(id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	if id == "localhost" {
		return Errorf(Unprocessable, CodeIDReserved, "%q is reserved: choose another project id", id)
	}
	return nil
}

// CheckProjectHost returns Unprocessable id_reserved if host, the production host of the project id, is
// the host of one of the server's own names or URLs: requests to it would not reach the project [D1].
func CheckProjectHost(id, host string, own []string) error {
	for _, name := range own {
		if u, err := url.Parse(name); err == nil && u.Host != "" {
			name = u.Hostname()
		}
		if strings.EqualFold(name, host) {
			return Errorf(Unprocessable, CodeIDReserved, "%q is reserved: %s is a host name of the server itself; choose another project id", id, host)
		}
	}
	return nil
}

// ValidDigest reports whether d is "sha256:" and 64 lower-case hex digits.
func ValidDigest(d string) bool { return digestPattern().MatchString(d) }

// GeneratedID returns the id of a version created at t without an id; if the id
// is taken, the caller tries the next second [D2].
func GeneratedID(t time.Time) string { return "v-" + t.UTC().Format("20060102150405") }

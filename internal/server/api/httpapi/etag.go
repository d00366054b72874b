package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// projectTag returns the ETag of a project [D13].
func projectTag(p svc.Project) string { return tag(p) }

// versionTag returns the ETag of a version. It ignores the time of the last request and
// whether the version sleeps: traffic must not make a client's If-Match fail.
func versionTag(v svc.Version) string {
	v.LastRequestAt, v.AsleepAt, v.WakeAt, v.Waiting = time.Time{}, time.Time{}, time.Time{}, svc.Waiting{}
	return tag(v)
}

// envTag returns the ETag of an environment.
func envTag(e svc.Environment) string { return tag(e) }

func tag(record any) string {
	b, err := json.Marshal(record)
	if err != nil { // records are plain data
		panic("httpapi: a record does not encode: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// matches reports whether an If-Match header names one of tags. Weak tags never
// match (RFC 9110, 13.1.1).
func matches(header string, tags ...string) bool {
	for want := range strings.SplitSeq(header, ",") {
		want = strings.TrimSpace(want)
		for _, t := range tags {
			if want == "*" || want == t {
				return true
			}
		}
	}
	return false
}

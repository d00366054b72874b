package route

import (
	"bytes"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

// sessionCookies are the names of the dashboard's session.
//
//nolint:gochecknoglobals // constants
var sessionCookies = [][]byte{[]byte("svcctl-session="), []byte("__Host-svcctl-session=")}

// dropSession removes the session of the dashboard from the cookies of a request. A
// browser sends the cookies of a host to each of its ports, and a path selector is called
// by a host name that can also be the dashboard's.
func dropSession(req *http1.Request) {
	for i := range req.List {
		if f := &req.List[i]; http1.EqualFold(f.Name, "cookie") {
			f.Value = withoutSession(f.Value)
		}
	}
}

// withoutSession returns the value of a Cookie field without the session; value itself if
// it has none.
func withoutSession(value []byte) []byte {
	if !bytes.Contains(value, []byte("svcctl-session=")) {
		return value
	}
	var kept [][]byte
	for pair := range bytes.SplitSeq(value, []byte(";")) {
		pair = bytes.TrimSpace(pair)
		if !bytes.HasPrefix(pair, sessionCookies[0]) && !bytes.HasPrefix(pair, sessionCookies[1]) {
			kept = append(kept, pair)
		}
	}
	return bytes.Join(kept, []byte("; "))
}

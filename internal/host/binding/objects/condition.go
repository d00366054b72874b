package objects

// condition is an "onlyIf". Its parts are those of HTTP's conditional requests.
type condition struct {
	ETagMatches        []etagCondition `json:"etagMatches"`      // If-Match
	ETagDoesNotMatch   []etagCondition `json:"etagDoesNotMatch"` // If-None-Match
	UploadedBefore     *integer        `json:"uploadedBefore"`   // If-Unmodified-Since; milliseconds since 1970
	UploadedAfter      *integer        `json:"uploadedAfter"`    // If-Modified-Since
	SecondsGranularity bool            `json:"secondsGranularity"`
}

type etagCondition struct {
	Type  string `json:"type"` // strong, weak or wildcard
	Value string `json:"value"`
}

// holds tells whether c, which may be nil, holds for o, which is nil when there
// is no object.
func (c *condition) holds(o *object) bool {
	switch {
	case c == nil:
		return true
	case o == nil:
		return c.ETagMatches == nil && c.UploadedAfter == nil
	}
	match := c.ETagMatches != nil && anyMatches(c.ETagMatches, o.etag, false)
	noneMatch := c.ETagDoesNotMatch != nil && !anyMatches(c.ETagDoesNotMatch, o.etag, true)
	switch {
	case c.ETagMatches != nil && !match, c.ETagDoesNotMatch != nil && !noneMatch:
		return false
	case c.UploadedAfter != nil && !noneMatch && c.time(o.uploaded) <= c.time(int64(*c.UploadedAfter)):
		return false
	}
	return c.UploadedBefore == nil || match || c.time(o.uploaded) < c.time(int64(*c.UploadedBefore))
}

// time is ms as far as c looks at it.
func (c *condition) time(ms int64) int64 {
	if c.SecondsGranularity {
		return ms - ms%1000
	}
	return ms
}

// anyMatches compares etag with the conditions. A weak one matches only where
// weak is enough.
func anyMatches(conditions []etagCondition, etag string, weak bool) bool {
	for _, c := range conditions {
		if c.Type == "wildcard" || c.Value == etag && (c.Type == "strong" || weak) {
			return true
		}
	}
	return false
}

package svc

import "time"

// Keep says how many versions of a status stay, and how long. The zero value keeps all.
type Keep struct {
	Age   time.Duration // older ones are destroyed; 0 for any age
	Count int           // of each project; those beyond the newest are destroyed; 0 for any number
}

// Off reports whether all versions stay.
func (k Keep) Off() bool { return k == Keep{} }

// Expired returns the versions that k does not keep. versions are of one project and
// status, newest change first.
func (k Keep) Expired(versions []Version, now time.Time) (expired []Version) {
	for i, v := range versions {
		if k.Age > 0 && now.Sub(v.UpdatedAt) > k.Age || k.Count > 0 && i >= k.Count {
			expired = append(expired, v)
		}
	}
	return expired
}

// BulkVerb is what is done to the versions that a filter selects.
type BulkVerb string

// The verbs.
const (
	BulkArchive BulkVerb = "archive"
	BulkDestroy BulkVerb = "destroy"
)

// BulkResult is what became of one version.
type BulkResult struct {
	Version Version
	Done    bool
	Err     error // why it was not done; nil in a dry run
}

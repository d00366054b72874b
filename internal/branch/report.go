package branch

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// ErrManifestLost says that a version has no manifest although it began as a
// fork: what it had inherited is not known.
var ErrManifestLost = errors.New("the manifest of a fork is missing")

// Object is one log file or blob in a Report.
type Object struct {
	Version  svc.Ref
	Key      string
	Size     int64
	PinnedBy []svc.Ref     // who else needs it, when it is pinned
	Left     time.Duration // of the grace, when it waits
}

// Report is what a sweep did, or would do. Lists are in the order of keys.
type Report struct {
	Gone     []Object          // deleted; with dry run: would be
	Waiting  []Object          // unwanted, within the grace
	Pinned   []Object          // their own version does not need them, others do
	Marked   []svc.Ref         // versions whose records now say that they are destroyed
	Removed  []svc.Ref         // destroyed versions of which nothing is left
	Broken   map[svc.Ref]error // versions left alone, and why
	Versions []Usage           // what each version has, in order
}

// Usage is what the objects of one version are for.
type Usage struct {
	Version  svc.Ref
	State    State         // "" when there is no record
	Forked   time.Time     // when its manifest was stored; zero without one
	Live     svc.Amount    // its own log files and blobs that it needs itself
	Pinned   svc.Amount    // those that only others need
	PinnedBy []Pin         // those others; an object may have several
	Waiting  svc.Amount    // unwanted, within the grace
	Left     time.Duration // until the last of them may go
	Gone     svc.Amount
	Other    svc.Amount // what this program does not know, and sweeps leave alone
}

// Pin is what one version needs of another's files.
type Pin struct {
	By svc.Ref
	svc.Amount
}

// ownerChanged tells whether something was left to the next sweep because a
// version's record changed meanwhile.
func (r *Report) ownerChanged() bool {
	for _, err := range r.Broken {
		if errors.Is(err, ErrLost) {
			return true
		}
	}
	return false
}

// Bytes adds up the sizes of objects.
func Bytes(objects []Object) (n int64) {
	for _, o := range objects {
		n += o.Size
	}
	return n
}

// judge sorts the files and blobs into a report; unburied are unwanted files in no dead list.
func (all survey) judge(grace time.Duration) (report *Report, unburied map[svc.Ref][]string) {
	live := all.live()
	report, unburied = &Report{Broken: live.broken}, map[svc.Ref][]string{}
	for _, m := range all {
		usage := m.usage()
		for _, f := range m.files {
			by := live.pins[f.id()]
			if slices.Contains(by, m.ref) {
				usage.Live.Add(f.Size)
				continue
			}
			o := Object{Version: m.ref, Key: f.Key(), Size: f.Size, PinnedBy: by}
			if len(by) > 0 {
				report.Pinned = append(report.Pinned, o)
				usage.pin(o)
				continue
			}
			since, buried := live.unwantedSince(m, f.id())
			if !buried {
				unburied[m.ref] = append(unburied[m.ref], o.Key)
				since = time.Now()
			}
			o.Left = max(0, grace-time.Since(since))
			report.unwanted(o, &usage)
		}
		all.judgeBlobs(m, grace, report, &usage)
		report.Versions = append(report.Versions, usage)
	}
	if lost := all.lostManifests(); len(lost) > 0 {
		report.hold(lost)
		unburied = nil
	}
	report.sort()
	return report, unburied
}

func (m *member) usage() Usage {
	u := Usage{Version: m.ref, Forked: m.forked, Other: m.others}
	if m.record != nil {
		u.State = m.record.State
	}
	return u
}

// pin adds a file that others need.
func (u *Usage) pin(o Object) {
	u.Pinned.Add(o.Size)
	for _, by := range o.PinnedBy {
		i := slices.IndexFunc(u.PinnedBy, func(p Pin) bool { return p.By == by })
		if i < 0 {
			i = len(u.PinnedBy)
			u.PinnedBy = append(u.PinnedBy, Pin{By: by})
		}
		u.PinnedBy[i].Add(o.Size)
	}
}

// unwanted adds a file that nobody needs.
func (r *Report) unwanted(o Object, u *Usage) {
	if o.Left == 0 {
		r.Gone = append(r.Gone, o)
		return
	}
	r.Waiting = append(r.Waiting, o)
	u.Waiting.Add(o.Size)
	u.Left = max(u.Left, o.Left)
}

// lostManifests names the versions without the manifest that they must have.
// Nothing of their project may go: they may need any of it.
func (all survey) lostManifests() (lost []svc.Ref) {
	for _, m := range all {
		if m.lost {
			lost = append(lost, m.ref)
		}
	}
	return lost
}

// hold makes what would go wait.
func (r *Report) hold(lost []svc.Ref) {
	for _, v := range lost {
		r.Broken[v] = ErrManifestLost
	}
	for _, o := range r.Gone {
		r.Waiting = append(r.Waiting, o)
		r.usageOf(o.Version).Waiting.Add(o.Size)
	}
	r.Gone = nil
}

func (r *Report) usageOf(v svc.Ref) *Usage {
	i := slices.IndexFunc(r.Versions, func(u Usage) bool { return u.Version == v })
	return &r.Versions[i] // judge made one for every version
}

// countGone adds to the versions' sums what went in the end.
func (r *Report) countGone() {
	sums := map[svc.Ref]*svc.Amount{}
	for i := range r.Versions {
		sums[r.Versions[i].Version] = &r.Versions[i].Gone
	}
	for _, o := range r.Gone {
		sums[o.Version].Add(o.Size)
	}
}

// sort puts the lists in order.
func (r *Report) sort() {
	for _, list := range [][]Object{r.Gone, r.Waiting, r.Pinned} {
		slices.SortFunc(list, func(a, b Object) int { return strings.Compare(a.Key, b.Key) })
	}
	slices.SortFunc(r.Versions, func(a, b Usage) int { return strings.Compare(a.Version.Version, b.Version.Version) })
	for _, u := range r.Versions {
		slices.SortFunc(u.PinnedBy, func(a, b Pin) int { return strings.Compare(a.By.Version, b.By.Version) })
	}
}

func sortRefs(refs []svc.Ref) {
	slices.SortFunc(refs, func(a, b svc.Ref) int { return strings.Compare(a.Version, b.Version) })
}

// both keeps the objects that are in each list.
func both(a, b []Object) []Object {
	keys := map[string]bool{}
	for _, o := range b {
		keys[o.Key] = true
	}
	return slices.DeleteFunc(a, func(o Object) bool { return !keys[o.Key] })
}

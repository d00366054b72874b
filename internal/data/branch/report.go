package branch

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// ErrManifestLost says that a version that began as a fork has no manifest, so
// that its inherited files are unknown.
var ErrManifestLost = errors.New("the manifest of a fork is missing")

// Object is one log file, history object or blob in a Report.
type Object struct {
	Version  svc.Ref
	Key      string
	Size     int64
	PinnedBy []svc.Ref     // other versions that need it, when it is pinned
	Left     time.Duration // rest of the grace, when it waits
}

// Report is what a sweep did or, with dry run, would do. Lists are in the order of
// keys.
type Report struct {
	Gone     []Object          // deleted; with dry run: to be deleted
	Waiting  []Object          // unwanted, within the grace
	Pinned   []Object          // needed by other versions only
	Marked   []svc.Ref         // versions whose records now say that they are destroyed
	Removed  []svc.Ref         // destroyed versions that are purged
	Broken   map[svc.Ref]error // versions that were skipped, and why
	Versions []Usage           // of each version, in order
}

// Usage adds up the objects of one version by their use.
type Usage struct {
	Version  svc.Ref
	State    State         // "" without a record
	Forked   time.Time     // when its manifest was stored; zero without one
	Live     svc.Amount    // its own log files, history and blobs that it needs itself
	Pinned   svc.Amount    // needed by other versions only
	PinnedBy []Pin         // those other versions; an object may have several
	Waiting  svc.Amount    // unwanted, within the grace
	Left     time.Duration // until the grace of the last of them ends
	Gone     svc.Amount
	Other    svc.Amount // unknown objects, which sweeps keep

	// With SweepOptions.Shares:
	Inherited svc.Amount // objects of other versions that it needs
	Alone     svc.Amount // of Live, those that no other version needs
}

// Pin adds up the objects of a version that the version By needs.
type Pin struct {
	By svc.Ref
	svc.Amount
}

// ownerChanged reports whether objects were left to the next sweep because a
// version's record changed during this one.
func (r *Report) ownerChanged() bool {
	for _, err := range r.Broken {
		if errors.Is(err, ErrLost) {
			return true
		}
	}
	return false
}

// classify reports on all files, history and blobs. unlisted are unwanted files in no dead
// list, by version.
func (all survey) classify(grace time.Duration) (report *Report, unlisted map[svc.Ref][]string) {
	live := all.live(grace)
	packs, released := all.pinnedPacks()
	report, unlisted = &Report{Broken: live.broken}, map[svc.Ref][]string{}
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
			since, dead := live.unwantedSince(m, f.id())
			if !dead {
				unlisted[m.ref] = append(unlisted[m.ref], o.Key)
				since = time.Now()
			}
			o.Left = max(0, grace-time.Since(since))
			report.unwanted(o, &usage)
		}
		all.classifyBlobs(m, grace, report, &usage)
		m.classifyHistory(packs, released, grace, report, &usage)
		report.Versions = append(report.Versions, usage)
	}
	if lost := all.lostManifests(); len(lost) > 0 {
		report.hold(lost)
		unlisted = nil
	}
	report.sort()
	return report, unlisted
}

func (m *member) usage() Usage {
	u := Usage{Version: m.ref, Forked: m.forked, Other: m.others}
	if m.record != nil {
		u.State = m.record.State
	}
	return u
}

// pin adds an object that other versions need.
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

// unwanted adds an object that no version needs.
func (r *Report) unwanted(o Object, u *Usage) {
	if o.Left == 0 {
		r.Gone = append(r.Gone, o)
		return
	}
	r.Waiting = append(r.Waiting, o)
	u.Waiting.Add(o.Size)
	u.Left = max(u.Left, o.Left)
}

// lostManifests lists the versions without the manifest that they must have. They
// may need any object of their project, so nothing of it may be deleted.
func (all survey) lostManifests() (lost []svc.Ref) {
	for _, m := range all {
		if m.lost {
			lost = append(lost, m.ref)
		}
	}
	return lost
}

// hold turns objects to be deleted into waiting ones.
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
	return &r.Versions[i] // classify made one for every version
}

// countGone adds the deleted objects to the versions' sums.
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

// both returns the objects of a that are in b. It reuses a.
func both(a, b []Object) []Object {
	keys := map[string]bool{}
	for _, o := range b {
		keys[o.Key] = true
	}
	return slices.DeleteFunc(a, func(o Object) bool { return !keys[o.Key] })
}

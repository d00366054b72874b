package gc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// projectAudit is the audit of one project.
type projectAudit struct {
	*Service
	id        string
	there     *listing
	briefs    map[string]svc.Brief
	inherited map[name]bool      // by wanted versions
	released  map[name]time.Time // until when an unwanted version held what it had inherited
	sick      map[svc.Ref]bool   // versions with problems: sweeps leave them alone
	held      bool               // a fork has lost its manifest: sweeps leave the project alone
}

func newProjectAudit(s *Service, id string, there *listing) *projectAudit {
	return &projectAudit{
		Service: s, id: id, there: there, briefs: map[string]svc.Brief{},
		inherited: map[name]bool{}, released: map[name]time.Time{}, sick: map[svc.Ref]bool{},
	}
}

// verdict is what a check of a version found.
type verdict struct {
	ref           svc.Ref
	stores, files int
	problems      []svc.StoreProblem
}

// add notes a problem with key. more are further objects that have it too.
func (v *verdict) add(code, store, key, detail string, more ...branch.File) {
	v.problems = append(v.problems, svc.StoreProblem{
		Code: code, Ref: v.ref, Store: store, Key: key, Count: 1 + len(more), Detail: detail,
	})
}

// version checks one wanted version. What looks wrong is looked at again with a
// listing of its own: the world went on since the first.
func (p *projectAudit) version(ctx context.Context, b svc.Brief) (*verdict, error) {
	v := svc.Ref{Project: p.id, Version: b.ID}
	record, manifest, found := p.read(ctx, v)
	p.check(found, b, p.there, record, manifest)
	if len(found.problems) == 0 || ctx.Err() != nil {
		return found, context.Cause(ctx)
	}
	now, still, err := p.stillWanted(ctx, b.ID)
	if err != nil || !still {
		found.problems = nil
		return found, err
	}
	record, manifest, found = p.read(ctx, v)
	fresh, err := p.list(ctx, prefixes(v, manifest)...)
	if err != nil {
		return found, err
	}
	p.check(found, now, fresh, record, manifest)
	p.sick[v] = len(found.problems) > 0
	p.held = p.held || slices.ContainsFunc(found.problems, func(s svc.StoreProblem) bool { return s.Code == codeManifestMissing })
	return found, context.Cause(ctx)
}

func (p *projectAudit) stillWanted(ctx context.Context, id string) (b svc.Brief, still bool, err error) {
	briefs, err := p.deps.Registry.Briefs(ctx, p.id)
	i := slices.IndexFunc(briefs, func(b svc.Brief) bool { return b.ID == id && wanted(b) })
	if err != nil || i < 0 {
		return b, false, err
	}
	return briefs[i], true, nil
}

// prefixes are where the objects lie that a version may need.
func prefixes(v svc.Ref, m *branch.Manifest) []string {
	all := []string{v.String() + "/"}
	if m != nil {
		for _, base := range m.Stores {
			for _, f := range base.Files {
				all = append(all, f.Prefix+"/ltx/")
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// read gives what the store says of a version. What cannot be read is a problem.
func (p *projectAudit) read(ctx context.Context, v svc.Ref) (*branch.Record, *branch.Manifest, *verdict) {
	found := &verdict{ref: v}
	record, err := p.deps.Records.Record(ctx, v)
	if err != nil && ctx.Err() == nil {
		p.unreadable(ctx, found, "record", err)
	}
	manifest, err := p.deps.Records.Load(ctx, v)
	if err != nil && ctx.Err() == nil {
		p.unreadable(ctx, found, "manifest", err)
	}
	return record, manifest, found
}

func (p *projectAudit) unreadable(ctx context.Context, found *verdict, what string, err error) {
	found.add(codeUnreadable, "", "", "its "+what+" cannot be read; the log says why")
	p.log.ErrorContext(ctx, "the audit could not read", "project", p.id, "version", found.ref.Version, "what", what, "error", err)
}

// check holds what a version must have against a listing.
func (p *projectAudit) check(found *verdict, b svc.Brief, there *listing, record *branch.Record, manifest *branch.Manifest) {
	bases, cuts, verified := map[string]branch.StoreBase{}, map[string]branch.Cut{}, map[string]uint64{}
	if record != nil {
		verified = record.Verified
		if record.Cut != nil {
			cuts = record.Cut.Stores
		}
		if record.State == branch.StateDestroying {
			found.add(codeRecordDestroyed, "", "", "its data is marked as destroyed, while the version is "+string(b.Status))
		}
	}
	if manifest != nil {
		bases = manifest.Stores
	} else if b.ForkTXID != "" && len(found.problems) == 0 {
		found.add(codeManifestMissing, "", found.ref.String()+"/branch.json", "it branched off at "+b.ForkTXID+", and what it inherited is not known")
	}
	own := there.own(found.ref)
	for _, store := range union(own, bases, verified) {
		c := storeCheck{verdict: found, store: store, own: own[store], base: bases[store].Files, cut: cuts[store].Files, there: there}
		c.run(verified[store])
		found.stores++
		found.files += len(c.own) + len(c.base)
		for _, f := range slices.Concat(c.base, c.cut) {
			p.inherited[nameOf(f)] = true
		}
	}
}

// union gives the keys of all maps, in order.
func union[A, B, C any](a map[string]A, b map[string]B, c map[string]C) []string {
	keys := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)), slices.Collect(maps.Keys(c)))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// storeCheck is the check of one store.
type storeCheck struct {
	*verdict
	store     string
	own, base []branch.File // base as the manifest says
	cut       []branch.File // what the record offers to forks
	there     *listing
}

// run looks at every file, then plans as one who restores would.
func (c storeCheck) run(verified uint64) {
	present := c.present()
	c.offered()
	end, hole := branch.Position(slices.Concat(c.base, c.own))
	if end < verified {
		c.at(codeLogShort, end+1, "it reached transaction %d when it was archived, and now ends with %d", verified, end)
	}
	if hole {
		c.at(codeLogHole, end+1, "transaction %d is missing, and later ones are there", end+1)
		return
	}
	if _, err := branch.Plan(present, end); err != nil {
		c.at(codeNotRestorable, end, "%v", err)
		return
	}
	kept := slices.DeleteFunc(present, func(f branch.File) bool {
		_, buried := c.there.buried[nameOf(f)]
		return buried && f.Prefix == branch.StorePrefix(c.ref, c.store)
	})
	if _, err := branch.Plan(kept, end); err != nil {
		c.at(codeMarkedNeeded, end, "it can be restored only with files that are marked for deletion: %v", err)
	}
}

// present gives the files that are there as they must be, and complains about
// the others: by the first of them and their number.
func (c storeCheck) present() (present []branch.File) {
	var missing, odd []branch.File
	for _, f := range c.own {
		if f.Size > 0 {
			present = append(present, f)
		} else {
			odd = append(odd, f)
		}
	}
	for _, f := range c.base {
		switch got, ok := c.there.find(f); {
		case !ok:
			missing = append(missing, f)
		case got.Size != f.Size:
			odd = append(odd, f)
		default:
			present = append(present, f)
		}
	}
	if len(missing) > 0 {
		c.add(codeFileMissing, c.store, missing[0].Key(), "its manifest names an object that is not there", missing[1:]...)
	}
	if len(odd) > 0 {
		c.add(codeFileSize, c.store, odd[0].Key(), "an object has another size than it must have", odd[1:]...)
	}
	return present
}

// offered complains about files that a fork of an archived version would name
// and that are not there.
func (c storeCheck) offered() {
	missing := slices.DeleteFunc(slices.Clone(c.cut), func(f branch.File) bool {
		got, ok := c.there.find(f)
		return ok && got.Size == f.Size || slices.ContainsFunc(c.base, func(b branch.File) bool { return nameOf(b) == nameOf(f) })
	})
	if len(missing) > 0 {
		c.add(codeFileMissing, c.store, missing[0].Key(), "its record names an object that is not there as it should be", missing[1:]...)
	}
}

// at notes a problem with a transaction.
func (c storeCheck) at(code string, txid uint64, format string, args ...any) {
	slot := branch.File{Prefix: branch.StorePrefix(c.ref, c.store), Min: txid, Max: txid}
	c.add(code, c.store, slot.Key(), fmt.Sprintf(format, args...))
}

package gc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// projectAudit is the audit of one project.
type projectAudit struct {
	*Service
	id        string
	there     *listing
	briefs    map[string]svc.Brief
	inherited map[name]bool      // by wanted versions
	released  map[name]time.Time // until when an unwanted version pinned inherited files
	broken    map[svc.Ref]bool   // versions with problems, which sweeps skip
	held      bool               // a fork has no manifest: sweeps skip the project
}

func newProjectAudit(s *Service, id string, there *listing) *projectAudit {
	return &projectAudit{
		Service: s, id: id, there: there, briefs: map[string]svc.Brief{},
		inherited: map[name]bool{}, released: map[name]time.Time{}, broken: map[svc.Ref]bool{},
	}
}

// verdict is the result of the check of a version.
type verdict struct {
	ref              svc.Ref
	databases, files int
	problems         []svc.StoreProblem
}

// add adds a problem with key. more are further objects with the same problem.
func (v *verdict) add(code, database, key, detail string, more ...branch.File) {
	v.problems = append(v.problems, svc.StoreProblem{
		Code: code, Ref: v.ref, Database: database, Key: key, Count: 1 + len(more), Detail: detail,
	})
}

// version checks one wanted version. If it finds problems, it checks again with a new
// listing, because objects may have changed since the first.
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
	p.broken[v] = len(found.problems) > 0
	p.held = p.held || slices.ContainsFunc(found.problems, func(s svc.StoreProblem) bool { return s.Code == svc.CodeManifestMissing })
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

// prefixes returns the prefixes of the objects that a version may need.
func prefixes(v svc.Ref, m *branch.Manifest) []string {
	all := []string{v.String() + "/"}
	if m != nil {
		for _, base := range m.Databases {
			for _, f := range base.Files {
				all = append(all, f.Prefix+"/ltx/")
				if f.Pack != "" {
					all = append(all, branch.HistPrefix(f.Prefix))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// read returns record and manifest of a version. An unreadable one is a problem.
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
	found.add(svc.CodeRecordUnreadable, "", "", "its "+what+" cannot be read; read the service's log")
	p.log.ErrorContext(ctx, "reading an object for the audit failed", "project", p.id, "version", found.ref.Version, "what", what, "error", err)
}

// check checks what a version needs against a listing.
func (p *projectAudit) check(found *verdict, b svc.Brief, there *listing, record *branch.Record, manifest *branch.Manifest) {
	bases, cuts, verified := map[string]branch.DatabaseBase{}, map[string]branch.Cut{}, map[string]uint64{}
	if record != nil {
		verified = record.Verified
		if record.Cut != nil {
			cuts = record.Cut.Databases
		}
		if record.State == branch.StateDestroying {
			found.add(svc.CodeRecordDestroyed, "", "", "its data is marked as destroyed, but the version is "+string(b.Status))
		}
	}
	if manifest != nil {
		bases = manifest.Databases
	} else if b.ForkTXID != "" && len(found.problems) == 0 {
		found.add(svc.CodeManifestMissing, "", found.ref.String()+"/branch.json", "it was forked at "+b.ForkTXID+", and what it inherited is unknown")
	}
	own := there.own(found.ref)
	for _, name := range union(own, bases, verified) {
		c := databaseCheck{verdict: found, name: name, own: own[name], base: bases[name].Files, cut: cuts[name].Files, there: there}
		c.run(verified[name])
		c.holes(there.history[branch.DatabasePrefix(found.ref, name)])
		found.databases++
		found.files += len(c.own) + len(c.base)
		for _, f := range slices.Concat(c.base, c.cut) {
			if f.Pack == "" {
				p.inherited[nameOf(f)] = true
			}
		}
	}
}

// union returns the sorted keys of all maps.
func union[A, B, C any](a map[string]A, b map[string]B, c map[string]C) []string {
	keys := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)), slices.Collect(maps.Keys(c)))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// databaseCheck is the check of one database.
type databaseCheck struct {
	*verdict
	name      string
	own, base []branch.File // base is in the manifest
	cut       []branch.File // files that the record offers to forks
	there     *listing
}

// run checks every file, then plans a restore.
func (c databaseCheck) run(verified uint64) {
	present := c.present()
	c.offered()
	end, hole := branch.Position(slices.Concat(c.base, c.own))
	if end < verified {
		c.at(svc.CodeLogShort, end+1, "the log ended with transaction %d when it was archived, and now ends with %d", verified, end)
	}
	if hole {
		c.at(svc.CodeLogHole, end+1, "transaction %d is missing, and later ones exist", end+1)
		return
	}
	if _, err := branch.Plan(present, end); err != nil {
		c.at(svc.CodeNotRestorable, end, "%v", err)
		return
	}
	kept := slices.DeleteFunc(present, func(f branch.File) bool {
		_, dead := c.there.dead[nameOf(f)]
		return dead && f.Prefix == branch.DatabasePrefix(c.ref, c.name)
	})
	if _, err := branch.Plan(kept, end); err != nil {
		c.at(svc.CodeMarkedNeeded, end, "it can be restored only with files that are marked for deletion: %v", err)
	}
}

// present returns the files that exist with the right size, and reports the others.
func (c databaseCheck) present() (present []branch.File) {
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
		c.add(svc.CodeFileMissing, c.name, missing[0].Key(), "its manifest names an object that does not exist", missing[1:]...)
	}
	if len(odd) > 0 {
		c.add(svc.CodeFileSize, c.name, odd[0].Key(), "an object does not have the size that it must have", odd[1:]...)
	}
	return present
}

// offered reports missing files that a fork of an archived version would name.
func (c databaseCheck) offered() {
	missing := slices.DeleteFunc(slices.Clone(c.cut), func(f branch.File) bool {
		got, ok := c.there.find(f)
		return ok && got.Size == f.Size || slices.ContainsFunc(c.base, func(b branch.File) bool { return nameOf(b) == nameOf(f) })
	})
	if len(missing) > 0 {
		c.add(svc.CodeFileMissing, c.name, missing[0].Key(), "its record names an object that is missing or has a wrong size", missing[1:]...)
	}
}

// at adds a problem with a transaction.
func (c databaseCheck) at(code string, txid uint64, format string, args ...any) {
	slot := branch.File{Prefix: branch.DatabasePrefix(c.ref, c.name), Min: txid, Max: txid}
	c.add(code, c.name, slot.Key(), fmt.Sprintf(format, args...))
}

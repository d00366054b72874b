package divergence

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// comparison is one call of Unmerged.
type comparison struct {
	deps        Deps
	production  svc.Ref
	logs        map[string][]objstore.Info // production's own
	inherited   *branch.Manifest           // production's; nil for a root
	instancesAt branch.DatabaseBase        // the workflows that both versions had; zero without any
	pages       int                        // that may still be read
	keyed       int                        // of a table WITHOUT ROWID; 0: no limit but pages
	until       time.Time
	export      *export // nil if rows are only counted
	out         svc.Unmerged
}

// margin is left for the answer when time is up.
func (c *comparison) margin() time.Duration { return min(c.deps.Time/10, 200*time.Millisecond) }

// data compares the databases that versions share by forks.
func (c *comparison) data(ctx context.Context, target svc.Ref) error {
	b, err := c.baseOf(ctx, target)
	if err != nil {
		return err
	}
	now, err := c.read(ctx, b)
	if err != nil {
		return err
	}
	return c.databases(ctx, b.databases, now)
}

// read returns the files that restore production's data now.
func (c *comparison) read(ctx context.Context, b base) (now map[string]branch.Cut, err error) {
	c.out.Common, c.out.At, c.instancesAt = b.common, b.at, b.instances
	if c.inherited, err = c.deps.Records.Load(ctx, c.production); err != nil {
		return nil, err
	}
	if now, err = c.cut(ctx); err != nil {
		return nil, err
	}
	c.logs, err = c.deps.Records.Logs(ctx, c.production)
	return now, err
}

// databases compares two states of all databases.
func (c *comparison) databases(ctx context.Context, was, now map[string]branch.Cut) error {
	names := maps.Clone(now)
	maps.Copy(names, was)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		user, isUser := strings.CutPrefix(name, volume.UserPrefix)
		if !isUser && name != volume.SharedDatabase {
			continue
		}
		r, err := c.each(ctx, name, was[name], now[name])
		if err != nil {
			return err
		}
		if isUser {
			c.tables(user, r)
		} else {
			c.shared(r)
		}
	}
	return nil
}

// cut returns the files that restore production's data now.
func (c *comparison) cut(ctx context.Context) (map[string]branch.Cut, error) {
	cut, err := c.deps.Runtimes.Cut(ctx, c.production)
	switch svc.CodeOf(err) {
	case svc.CodeRuntimeNotOpen, svc.CodeRuntimeRestarting:
		return c.deps.CutStored(ctx, c.production)
	}
	return cut.Databases, err
}

// tables adds the changes of a D1 database.
func (c *comparison) tables(name string, r rowdiff.Result) {
	compared := false
	for _, t := range r.Tables {
		compared = compared || t.AtLeast
		if !isOwn(t.Name) {
			c.out.Tables = append(c.out.Tables, svc.UnmergedTable{Database: name, Table: t.Name, Written: written(t)})
		}
	}
	if r.AtLeast && !compared {
		c.out.Tables = append(c.out.Tables, svc.UnmergedTable{Database: name, Written: svc.Written{AtLeast: true}})
	}
}

// shared adds the changes of keys, objects and messages.
func (c *comparison) shared(r rowdiff.Result) {
	for kind, to := range map[svc.ExportKind]*svc.Written{svc.ExportKey: &c.out.Keys, svc.ExportObject: &c.out.Objects, svc.ExportMessage: &c.out.Messages} {
		for _, t := range r.Tables {
			if of, ok := c.table(t.Name); ok && of.Record == kind {
				*to = written(t)
			}
		}
		to.AtLeast = r.AtLeast
	}
}

// table returns the table of records of the shared database with this name.
func (c *comparison) table(name string) (of binding.Table, ok bool) {
	i := slices.IndexFunc(c.deps.Tables, func(t binding.Table) bool { return t.Database == volume.SharedDatabase && t.Name == name })
	if i < 0 {
		return of, false
	}
	return c.deps.Tables[i], true
}

// hasParts reports whether a table of the shared database has parts of records.
func (c *comparison) hasParts(name string) bool {
	return slices.ContainsFunc(c.deps.Tables, func(t binding.Table) bool { return t.Parts != "" && t.Parts == name })
}

func written(t rowdiff.Table) svc.Written {
	return svc.Written{Inserted: t.Inserted, Updated: t.Updated, Deleted: t.Deleted, AtLeast: t.AtLeast}
}

// instances counts the instances of production's workflows that are in the object store and that
// target did not get from the same release.
func (c *comparison) instances(ctx context.Context) svc.Written {
	r, err := c.allInstances(ctx)
	if err != nil {
		c.deps.Logger.WarnContext(ctx, "instances of workflows not counted", "production", c.production.String(), "error", err)
		return svc.Written{AtLeast: true}
	}
	w := svc.Written{}
	for _, t := range r.Tables {
		w = written(t)
	}
	w.AtLeast = r.AtLeast
	return w
}

// allInstances compares the workflows with those that both versions had, which are none unless a
// release made one of them from the other.
func (c *comparison) allInstances(ctx context.Context) (r rowdiff.Result, err error) {
	if err := c.load(ctx); err != nil {
		return r, err
	}
	own := c.deps.workflows()
	var files []branch.File
	if c.inherited != nil { // a release has moved them
		files = slices.Clone(c.inherited.Databases[own.Database].Files)
	}
	for _, info := range c.logs[own.Database] {
		files = append(files, fileOf(info)...)
	}
	end, _ := branch.Position(files)
	state := branch.DatabaseBase{Files: files, TXID: end}
	return c.rows(ctx, c.instancesAt, state, func(table string) bool { return table == own.Name }, nil)
}

// load reads what the object store has of production, unless data has read it.
func (c *comparison) load(ctx context.Context) (err error) {
	if c.logs != nil {
		return nil
	}
	if c.inherited, err = c.deps.Records.Load(ctx, c.production); err != nil {
		return err
	}
	c.logs, err = c.deps.Records.Logs(ctx, c.production)
	return err
}

// database compares one database. It prefers files that hold the changes since the base;
// when they are merged into a full image, or deleted meanwhile, it compares more pages.
// row, if not nil, is called for each row that differs.
func (c *comparison) database(ctx context.Context, name string, was, now branch.DatabaseBase, row rowFunc) (rowdiff.Result, error) {
	var only func(string) bool
	if name == volume.SharedDatabase {
		only = func(table string) bool {
			_, ok := c.table(table)
			return ok || c.export != nil && c.hasParts(table)
		}
	}
	if files := c.since(name, was, now); files != nil {
		r, err := c.rows(ctx, was, branch.Cut{Files: files, TXID: now.TXID}, only, row)
		if err == nil || ctx.Err() != nil || c.export.begun() {
			return r, err
		}
	}
	return c.rows(ctx, was, now, only, row)
}

// since returns the files of the base and those that continue them to now; nil when some
// are missing.
func (c *comparison) since(name string, was branch.DatabaseBase, now branch.Cut) []branch.File {
	files, err := branch.Plan(was.Files, was.TXID)
	if err != nil || was.TXID == 0 {
		return nil
	}
	later := slices.Clone(now.Files)
	for _, info := range c.logs[name] {
		later = append(later, fileOf(info)...)
	}
	if c.inherited != nil {
		later = append(later, c.inherited.Databases[name].Files...)
	}
	for _, f := range later {
		if f.Min > was.TXID && f.Level < branch.SnapshotLevel {
			files = append(files, f)
		}
	}
	if _, err := branch.Plan(files, now.TXID); err != nil {
		return nil
	}
	return files
}

// fileOf is the log file of an object, if it is one.
func fileOf(info objstore.Info) []branch.File {
	f, ok := branch.ParseKey(info.Key)
	if !ok {
		return nil
	}
	f.Size, f.Modified = info.Size, info.Modified
	return []branch.File{f}
}

// rowFunc is called for each row that differs.
type rowFunc func(rowdiff.Row) error

// rows compares two states of a database; only, if not nil, selects tables. When time is
// up, the result is a lower bound.
func (c *comparison) rows(ctx context.Context, was, now branch.DatabaseBase, only func(string) bool, row rowFunc) (rowdiff.Result, error) {
	old, err := c.source(ctx, was)
	if err != nil {
		return c.late(ctx, err)
	}
	is, err := c.source(ctx, now)
	if err != nil {
		return c.late(ctx, err)
	}
	return c.images(ctx, old, is, selection{only: only, row: row})
}

// selection says of which tables a comparison passes which rows.
type selection struct {
	only, every func(table string) bool // see rowdiff.Images
	row         rowFunc
}

// images compares two states that are open.
func (c *comparison) images(ctx context.Context, old, is *replica.Source, of selection) (rowdiff.Result, error) {
	same := func(pgno uint32) bool { return is.Same(old, pgno) }
	images := rowdiff.Images{Base: old, Now: is, Same: same, Only: of.only, Every: of.every, Row: of.row}
	r, err := rowdiff.Compare(ctx, images, rowdiff.Limits{Pages: c.pages, Keyed: c.keyed, Until: c.until})
	if err != nil {
		return c.late(ctx, err)
	}
	c.pages -= r.Read
	return r, nil
}

// late turns the end of the time into a lower bound, and damaged or deleted files into
// errLost.
func (c *comparison) late(ctx context.Context, err error) (rowdiff.Result, error) {
	var damaged *replica.CorruptError
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return rowdiff.Result{AtLeast: true}, nil
	case errors.As(err, &damaged), errors.Is(err, branch.ErrNotRestorable), errors.Is(err, rowdiff.ErrCorrupt):
		err = errors.Join(errLost, err)
	}
	return rowdiff.Result{}, err
}

func (c *comparison) source(ctx context.Context, state branch.DatabaseBase) (*replica.Source, error) {
	plan, err := branch.Plan(state.Files, state.TXID)
	if err != nil {
		return nil, err
	}
	return replica.NewSource(ctx, c.deps.Bucket, plan)
}

package divergence

import (
	"context"
	"errors"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/rowdiff"
	"github.com/svcctl/svcctl/internal/data/rowsql"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// DefaultExportPages is 64 GiB of pages of 4 KiB: an export is long, but ends.
	DefaultExportPages = 16 << 20
	// exportKeyed is 256 MiB of pages of 4 KiB, which are in memory together.
	exportKeyed = 64 << 10
)

// Export passes what a version has, or what it wrote since a cut, to emit: the rows of its
// databases, keys, objects with their bodies, and messages. It reads the object store, so
// that the version need not run. Without a common cut everything is exported, and the first
// record says why. An export is complete if Export returns nil. Errors before the first
// record: NotFound, Gone, Conflict, BadRequest; later export_incomplete.
func (s *Service) Export(ctx context.Context, o svc.DataExport, emit func(svc.ExportRecord) error) error {
	if err := s.checkExport(ctx, &o); err != nil {
		return err
	}
	select {
	case s.exports <- struct{}{}:
		defer func() { <-s.exports }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	tables, err := rowsql.Open()
	if err != nil {
		return err
	}
	defer tables.Close()
	c := &comparison{deps: s.deps, production: o.Ref, pages: s.deps.ExportPages, keyed: exportKeyed}
	c.export = &export{c: c, emit: emit, tables: tables}
	return c.exported(ctx, o, c.write(ctx, o))
}

// checkExport checks the versions, and sets Against.
func (s *Service) checkExport(ctx context.Context, o *svc.DataExport) error {
	v, err := s.deps.Registry.Version(ctx, o.Ref)
	if err == nil {
		err = hasData(v)
	}
	if err != nil {
		return err
	}
	if !o.SinceCut && o.Against != "" {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "export of everything compares with no version").
			WithHint("add since_cut, or leave out the version to compare with")
	}
	if !o.SinceCut {
		return nil
	}
	if o.Against == "" {
		if o.Against, err = s.productionOf(ctx, o.Project); err != nil {
			return err
		}
	}
	if o.Against == o.Version {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "export of %s: it cannot be compared with itself", o.Ref).
			WithHint("name the version that lacks the data: svcctl data export %s --since-cut --against VERSION", o.Ref)
	}
	_, err = s.deps.Registry.Version(ctx, svc.Ref{Project: o.Project, Version: o.Against})
	return err
}

func (s *Service) productionOf(ctx context.Context, project string) (string, error) {
	p, err := s.deps.Registry.Project(ctx, project)
	if err == nil && p.ProdVersionID == "" {
		err = svc.Errorf(svc.Conflict, svc.CodeNoProduction, "project %s has no production version to compare with", project).
			WithHint("name a version to compare with")
	}
	return p.ProdVersionID, err
}

// hasData returns an error for a version without data of its own.
func hasData(v svc.Version) error {
	switch v.Status { //nolint:exhaustive // the others are in a deploy
	case svc.StatusReady, svc.StatusDraining, svc.StatusArchived:
		return nil
	case svc.StatusFailed:
		return svc.Errorf(svc.Conflict, svc.CodeVersionFailed, "version %s failed; it has no data", v.Ref)
	case svc.StatusDestroyed:
		return svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "version %s was destroyed", v.Ref)
	}
	return svc.Errorf(svc.Conflict, svc.CodeVersionNotReady, "version %s is %s", v.Ref, v.Status).
		WithHint("poll it until it is ready")
}

// exported makes the error of an export that is not complete.
func (c *comparison) exported(ctx context.Context, o svc.DataExport, err error) error {
	if _, known := errors.AsType[*svc.Error](err); err == nil || known || ctx.Err() != nil {
		return err
	}
	c.deps.Logger.WarnContext(ctx, "export of data failed", "version", c.production.String(), "against", o.Against, "error", err)
	return svc.Errorf(svc.Unavailable, svc.CodeExportIncomplete, "export of %s: its data could not be read completely", o.Ref).
		WithHint("start the export again; the log of the server has the reason").Because(err)
}

// write writes all records.
func (c *comparison) write(ctx context.Context, o svc.DataExport) error {
	b, err := c.exportBase(ctx, o)
	if err != nil {
		return err
	}
	now, err := c.read(ctx, b)
	if err != nil {
		return err
	}
	start := &svc.ExportStart{Version: o.Version, Against: o.Against, Common: b.common, At: b.at, Reason: c.out.Reason}
	if err := c.export.emit(svc.ExportRecord{Kind: svc.ExportBegin, Start: start}); err != nil {
		return err
	}
	if err := c.databases(ctx, b.databases, now); err != nil {
		return err
	}
	c.out.Instances = c.instances(ctx)
	return c.export.emit(svc.ExportRecord{Kind: svc.ExportEnd, Wrote: &c.out})
}

// exportBase returns the cut, or nothing for an export of everything.
func (c *comparison) exportBase(ctx context.Context, o svc.DataExport) (base, error) {
	if !o.SinceCut {
		return base{}, nil
	}
	b, err := c.baseOf(ctx, svc.Ref{Project: o.Project, Version: o.Against})
	if errors.Is(err, errUnrelated) || errors.Is(err, errLost) {
		c.out.Reason = reason(err)
		return base{}, nil
	}
	return b, err
}

// export writes the rows that differ as records.
type export struct {
	c       *comparison
	emit    func(svc.ExportRecord) error
	tables  *rowsql.Tables
	sent    bool                        // a record of the current comparison
	created string                      // the table of the last record of a table
	names   map[string]map[int64]string // of namespaces, buckets and queues, by table and id
	blobs   map[int64]map[int64]blob    // of objects, by entry and number
}

// begun reports whether the current comparison has sent a record, so that it cannot be
// repeated.
func (e *export) begun() bool { return e != nil && e.sent }

// limited is the error of an export that a limit ends.
func (e *export) limited() error {
	return svc.Errorf(svc.Unavailable, svc.CodeExportIncomplete, "export of %s: the limit of pages or time was reached", e.c.production).
		WithHint("export the databases one by one: svcctl d1 export")
}

func (e *export) send(r svc.ExportRecord) error {
	e.sent = true
	return e.emit(r)
}

// each compares one database.
func (c *comparison) each(ctx context.Context, name string, was, now branch.DatabaseBase) (r rowdiff.Result, err error) {
	if c.export == nil {
		return c.database(ctx, name, was, now, nil)
	}
	row := c.export.rowOf(name)
	if name == volume.SharedDatabase {
		if err := c.export.readNames(ctx, was, now); err != nil {
			return r, err
		}
		row = c.export.record
	}
	// What is deleted comes first: its key, or a value of it that must be unique, may have
	// been written again.
	for _, deletes := range []bool{true, false} {
		c.export.sent, c.export.created = false, ""
		r, err = c.database(ctx, name, was, now, func(d rowdiff.Row) error { return row(ctx, deletes, d) })
		if err == nil && r.AtLeast {
			err = c.export.limited()
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

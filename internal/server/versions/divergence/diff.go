package divergence

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/rowsql"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/durable"
	"github.com/svcctl/svcctl/internal/svc"
)

// DefaultDiffPages is 256 MiB of pages of 4 KiB of both versions together.
const DefaultDiffPages = 64 << 10

// DefaultDiffBytes is 192 MiB.
const DefaultDiffBytes = 192 << 20

// diffsTogether is how many diffs run at a time.
const diffsTogether = 2

// Diff passes what differs between the data that two versions have now, or what a version changed
// since it was forked: objects of the schema, counts and, if asked for, rows, keys, objects and
// messages. A row is the same in both by its key, everything else by its names. A diff is complete if
// Diff returns nil. Errors before the first record: NotFound, Gone, Conflict, BadRequest; later
// diff_too_large and export_incomplete, too.
func (s *Service) Diff(ctx context.Context, o svc.DataDiff, emit func(svc.ExportRecord) error) error {
	if err := s.checkDiff(ctx, o); err != nil {
		return err
	}
	select {
	case s.diffs <- struct{}{}:
		defer func() { <-s.diffs }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	tables, err := rowsql.Open()
	if err != nil {
		return err
	}
	defer tables.Close()
	d := &diff{o: o, first: &comparison{deps: s.deps, production: o.Ref}, second: s.second(o), pairs: map[string]*pair{}, now: time.Now()}
	d.export = &export{c: d.second, emit: emit, tables: tables}
	d.second.export = d.export
	return d.ended(ctx, d.run(ctx))
}

// ended makes the error of a diff that is not complete.
func (d *diff) ended(ctx context.Context, err error) error {
	if _, known := errors.AsType[*svc.Error](err); err == nil || known || ctx.Err() != nil {
		return err
	}
	d.first.deps.Logger.WarnContext(ctx, "diff of data failed", "version", d.o.String(), "with", d.o.With, "error", err)
	return svc.Errorf(svc.Unavailable, svc.CodeExportIncomplete, "diff of %s: its data could not be read completely", d.o.Ref).
		WithHint("start the diff again; the log of the server has the reason").Because(err)
}

// second returns the comparison of the second version. It has the limits of the diff.
func (s *Service) second(o svc.DataDiff) *comparison {
	c := &comparison{deps: s.deps, production: o.Ref, pages: s.deps.DiffPages, keyed: exportKeyed}
	if o.With != "" {
		c.production.Version = o.With
	}
	if o.Full {
		c.pages = s.deps.ExportPages
	}
	return c
}

func (s *Service) checkDiff(ctx context.Context, o svc.DataDiff) error {
	if o.With == o.Version {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "diff of %s: it cannot be compared with itself", o.Ref).
			WithHint("name another version, or none to see what it changed since it was forked: svcctl data diff %s", o.Ref)
	}
	for _, version := range []string{o.Version, o.With} {
		if version == "" {
			continue
		}
		v, err := s.deps.Registry.Version(ctx, svc.Ref{Project: o.Project, Version: version})
		if err == nil {
			err = hasData(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// diff is one call of Diff.
type diff struct {
	o             svc.DataDiff
	first, second *comparison
	export        *export
	pairs         map[string]*pair // of databases
	base          base
	now           time.Time
}

func (d *diff) run(ctx context.Context) error {
	was, is, err := d.states(ctx)
	if err != nil {
		return err
	}
	if err := d.open(ctx, was, is); err != nil {
		return err
	}
	start := &svc.ExportStart{Version: d.o.Version, Against: d.o.With, Common: d.base.common, At: d.base.at, Reason: d.second.out.Reason}
	if err := d.export.emit(svc.ExportRecord{Kind: svc.ExportBegin, Start: start}); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(d.pairs)) {
		if err := d.database(ctx, name, d.pairs[name]); err != nil {
			return err
		}
	}
	return d.export.emit(svc.ExportRecord{Kind: svc.ExportEnd})
}

// wants reports whether a database is part of the diff.
func (d *diff) wants(name string) bool {
	if user, ok := strings.CutPrefix(name, volume.UserPrefix); ok {
		return d.o.Database == "" || d.o.Database == user
	}
	return d.o.Database == "" && d.o.Table == "" && (name == volume.SharedDatabase || name == durable.Database)
}

// tooLarge is the error of a diff that would read more than its limit.
func (d *diff) tooLarge() error {
	if d.o.Full {
		return svc.Errorf(svc.Conflict, svc.CodeDiffTooLarge, "diff of %s: it would read more than %d MiB", d.o.Ref, d.first.deps.ExportPages>>8).
			WithHint("compare one database with --database, or export both: svcctl data export")
	}
	return svc.Errorf(svc.Conflict, svc.CodeDiffTooLarge, "diff of %s: the two states have little in common, and a diff reads at most %d MiB of their data", d.o.Ref, d.second.deps.DiffPages>>8).
		WithHint("read all of it with --full, or one database with --database NAME")
}

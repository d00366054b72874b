package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	exportBuffer = 64 << 10
	// exportPatience is how long a client may not read before an export ends.
	exportPatience = 5 * time.Minute
)

// ExportData answers GET .../data/export.
func (h handlers) ExportData(ctx context.Context, r oas.ExportDataRequestObject) (oas.ExportDataResponseObject, error) {
	o := svc.DataExport{Ref: svc.Ref{Project: r.Project, Version: r.Version}, SinceCut: r.Params.SinceCut, Against: r.Params.Against}
	write := func(emit func(svc.ExportRecord) error) error { return h.Plans.Export(ctx, o, emit) }
	return exportResponse{ctx: ctx, write: write, request: exchangeOf(ctx).id}, nil
}

// DiffData answers GET .../data/diff.
func (h handlers) DiffData(ctx context.Context, r oas.DiffDataRequestObject) (oas.DiffDataResponseObject, error) {
	p := r.Params
	o := svc.DataDiff{Ref: svc.Ref{Project: r.Project, Version: r.Version}, With: value(p.With), Rows: value(p.Rows), Database: value(p.Database), Table: value(p.Table), Full: value(p.Full)}
	write := func(emit func(svc.ExportRecord) error) error { return h.Plans.Diff(ctx, o, emit) }
	return exportResponse{ctx: ctx, write: write, request: exchangeOf(ctx).id}, nil
}

// VisitDiffDataResponse implements oas.DiffDataResponseObject.
func (e exportResponse) VisitDiffDataResponse(w http.ResponseWriter) error {
	return e.VisitExportDataResponse(w)
}

// exportResponse is a stream of records.
type exportResponse struct {
	ctx     context.Context //nolint:containedctx // of the request that it answers
	write   func(emit func(svc.ExportRecord) error) error
	request string
}

// VisitExportDataResponse implements oas.ExportDataResponseObject. An error before the
// first record is a problem; a later one is the last record.
func (e exportResponse) VisitExportDataResponse(w http.ResponseWriter) error {
	out := &exportWriter{w: w, control: http.NewResponseController(w)}
	out.lines = bufio.NewWriterSize(out, exportBuffer)
	defer out.control.SetWriteDeadline(time.Time{}) //nolint:errcheck // of the next request on this connection
	err := e.write(out.record)
	if err != nil && out.begun && e.ctx.Err() == nil {
		err = out.line(e.failed(err))
	}
	if !out.begun {
		return err
	}
	return errors.Join(err, out.lines.Flush())
}

// failed is the record of an error.
func (e exportResponse) failed(err error) api.DataExportRecord {
	p := failureOf(err).problem
	p.RequestID = e.request
	return api.DataExportRecord{Kind: api.DataExportRecordKindError, Problem: &p}
}

// exportWriter begins the response with the first record.
type exportWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	lines   *bufio.Writer
	begun   bool
}

// Write sends a part of the response within the time that a client has.
func (x *exportWriter) Write(p []byte) (int, error) {
	// A server whose connections have no deadlines has its own limit for slow clients.
	_ = x.control.SetWriteDeadline(time.Now().Add(exportPatience))
	return x.w.Write(p)
}

func (x *exportWriter) record(r svc.ExportRecord) error { return x.line(exportOut(r)) }

func (x *exportWriter) line(r api.DataExportRecord) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding a record of an export: %w", err)
	}
	if !x.begun {
		x.begun = true
		x.w.Header().Set("Content-Type", "application/jsonl")
		x.w.WriteHeader(http.StatusOK)
	}
	_, err = x.lines.Write(append(text, '\n'))
	return err
}

func exportOut(r svc.ExportRecord) api.DataExportRecord {
	out := api.DataExportRecord{
		Kind: api.DataExportRecordKind(r.Kind), Resource: r.Resource, Op: api.DataExportRecordOp(r.Op), Table: r.Table, Row: r.Row, Key: r.Key,
		Values: r.Values, SQL: r.SQL, Offset: r.Offset, Data: r.Body, Written: unmergedOut(r.Wrote),
	}
	out.Was, out.Of = r.Was, string(r.Of)
	if r.Counts != nil {
		counts := writtenOut(*r.Counts)
		out.Counts = &counts
	}
	if s := r.Start; s != nil {
		out.VersionID, out.AgainstVersionID, out.CommonVersionID = s.Version, s.Against, s.Common
		out.ForkedAt, out.Reason = api.MaybeAt(s.At), api.UnmergedReason(s.Reason)
	}
	return out
}

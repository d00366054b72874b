package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/svcctl/svcctl/pkg/api"
)

// ErrIncomplete is the error of an export that ended before its last record: the
// connection, or something between, cut it off.
var ErrIncomplete = errors.New("the export ended before it was complete")

// ExportOptions select what [Client.ExportData] exports. The zero ExportOptions selects
// everything.
type ExportOptions struct {
	SinceCut bool   // what was written since the data of the two versions began to differ
	Against  string // with SinceCut: the version that lacks the data; "" for production
}

// ExportData yields the records of an export in their order, the first and the last one
// among them; numbers are of type json.Number. It ends after an error: then the export is
// not complete. ctx is its only time limit.
//
// Codes: version_not_found, version_failed, version_not_ready, version_destroyed,
// project_not_found, no_production, invalid_parameter, export_incomplete.
func (c *Client) ExportData(ctx context.Context, project, version string, o ExportOptions) iter.Seq2[api.DataExportRecord, error] {
	params := api.ExportDataParams{SinceCut: o.SinceCut, Against: o.Against}
	return c.records(ctx, get(ofVersion+"/data/export", project, version).with(params))
}

// DiffOptions select what [Client.DiffData] returns. The zero DiffOptions selects the schema and
// the counts of all data that a version changed since it was forked.
type DiffOptions struct {
	With     string // the second version
	Rows     bool   // rows, keys, objects and messages with their values, too
	Database string // of D1, the only one to compare; "" for all data
	Table    string // of D1, the only one to compare; "" for all tables
	Full     bool   // read everything, however much it is
}

// DiffData yields what differs between the data of two versions, as [Client.ExportData] does. An
// insert is a record that only the second state has. The poll ticket of a version is enough for the
// zero DiffOptions.
//
// Codes: version_not_found, version_failed, version_not_ready, version_destroyed,
// invalid_parameter, diff_too_large, export_incomplete.
func (c *Client) DiffData(ctx context.Context, project, version string, o DiffOptions) iter.Seq2[api.DataExportRecord, error] {
	params := api.DiffDataParams{With: or(o.With), Rows: or(o.Rows), Database: or(o.Database), Table: or(o.Table), Full: or(o.Full)}
	return c.records(ctx, get(ofVersion+"/data/diff", project, version).with(params))
}

// records yields the records of an answer.
func (c *Client) records(ctx context.Context, r request) iter.Seq2[api.DataExportRecord, error] {
	return func(yield func(api.DataExportRecord, error) bool) {
		resp, err := c.stream(ctx, r)
		if err != nil {
			yield(api.DataExportRecord{}, err)
			return
		}
		defer resp.Body.Close()
		records := json.NewDecoder(resp.Body)
		records.UseNumber()
		for {
			record, err := exported(records)
			if !yield(record, err) || err != nil || record.Kind == api.DataExportRecordKindEnd {
				return
			}
		}
	}
}

// exported reads the next record; that of an error is its error.
func exported(records *json.Decoder) (r api.DataExportRecord, err error) {
	err = records.Decode(&r)
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r, ErrIncomplete
	case errors.As(err, &syntax):
		return r, unexpected(err)
	case err != nil:
		return r, fmt.Errorf("%w: %w", ErrIncomplete, transportError(err))
	case r.Kind == api.DataExportRecordKindError && r.Problem != nil:
		return r, &Error{Problem: *r.Problem, Status: r.Problem.Status}
	}
	return r, nil
}

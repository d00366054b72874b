package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// SearchVersions returns a page of the versions of all projects that a filter selects,
// newest first.
func (db *DB) SearchVersions(ctx context.Context, f svc.VersionFilter, req svc.PageRequest) (page svc.Page[svc.Version], err error) {
	before, limit := windowOf(req)
	where, args := filterOf(f)
	args = append([]any{sql.Named("before", before), sql.Named("limit", limit)}, args...)
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		rows, err := versions(ctx, tx, `WHERE v.seq < :before AND `+where+` ORDER BY v.seq DESC LIMIT :limit`, args...)
		page = cut(rows, req)
		return err
	})
	if err != nil {
		return svc.Page[svc.Version]{}, fmt.Errorf("searching versions: %w", err)
	}
	return page, nil
}

// filterOf returns the condition of a filter and its arguments.
func filterOf(f svc.VersionFilter) (where string, args []any) {
	all := []string{`v.status <> 'destroyed'`}
	add := func(condition, name string, value any) {
		all = append(all, condition)
		args = append(args, sql.Named(name, value))
	}
	if len(f.Statuses) > 0 {
		list, err := json.Marshal(f.Statuses)
		if err != nil {
			panic("registry: strings do not marshal: " + err.Error())
		}
		all = nil
		add(`v.status IN (SELECT value FROM json_each(:statuses))`, "statuses", string(list))
	}
	if f.Project != "" {
		add(`v.project_id = :project`, "project", f.Project)
	}
	if f.GitRef != "" {
		add(`v.git_ref = :ref`, "ref", f.GitRef)
	}
	if f.ParentID != "" {
		add(`v.parent_id = :parent`, "parent", f.ParentID)
	}
	if f.Pinned != nil {
		add(`v.pinned = :pinned`, "pinned", *f.Pinned)
	}
	if !f.Since.IsZero() {
		add(`v.created_at >= :since`, "since", millis(f.Since))
	}
	if !f.Until.IsZero() {
		add(`v.created_at <= :until`, "until", millis(f.Until))
	}
	for i, l := range f.Labels {
		key, value := fmt.Sprintf("key%d", i), fmt.Sprintf("value%d", i)
		args = append(args, sql.Named(key, l.Key))
		condition := `EXISTS (SELECT 1 FROM version_labels l WHERE l.version_seq = v.seq AND l.key = :` + key
		if l.Value != nil {
			args = append(args, sql.Named(value, *l.Value))
			condition += ` AND l.value = :` + value
		}
		all = append(all, condition+`)`)
	}
	if f.Text != "" {
		add(`instr(lower(v.project_id || '/' || v.id || ' ' || v.git_ref || ' ' || v.git_sha || ' ' || v.error), lower(:text)) > 0`, "text", f.Text)
	}
	return strings.Join(all, " AND "), args
}

// Jobs returns the deploys that run, and then those that wait in their order.
func (db *DB) Jobs(ctx context.Context) ([]svc.QueuedJob, error) {
	waiting := 0
	jobs, err := collect(ctx, db.file.Read(), func(s scanner) (j svc.QueuedJob, err error) {
		if err = s.Scan(&j.Ref.Project, &j.Ref.Version, &j.Status, &j.Running, &j.Attempt, stamp{&j.QueuedAt}, stamp{&j.RunAt}); err == nil && !j.Running {
			waiting++
			j.Position = waiting
		}
		return j, err
	}, `SELECT v.project_id, v.id, v.status, j.owner IS NOT NULL, j.attempt, j.created_at, j.run_at
		FROM jobs j JOIN versions v ON v.seq = j.version_seq ORDER BY j.owner IS NULL, j.id`)
	if err != nil {
		return nil, fmt.Errorf("listing the deploy queue: %w", err)
	}
	return jobs, nil
}

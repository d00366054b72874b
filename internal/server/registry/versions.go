package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/svc"
)

// selectVersion derives Production from the project by a join. attach adds warnings,
// timeline and overrides.
const selectVersion = `SELECT v.seq, v.project_id, v.id, coalesce(v.parent_id, ''), v.git_ref, v.git_sha, v.preview_name, v.preview_keep, v.digest,
	v.status, v.error, v.error_output, v.fork_txid, v.parent_at, v.scrub_id, v.pinned, v.pin_auto, v.size_bytes,
	v.events, v.released_from, v.handed_over_to, v.object_namespace, v.migrations, v.migrated_us, v.created_at, v.updated_at, v.ready_at, v.woken_at, v.last_request_at, v.asleep_at, v.wake_at,
	p.prod_version_id IS v.id
	FROM versions v JOIN projects p ON p.id = v.project_id `

func scanVersion(s scanner) (positioned[svc.Version], error) {
	var p positioned[svc.Version]
	v := &p.row
	err := s.Scan(&p.seq, &v.Project, &v.Version, &v.ParentID, &v.GitRef, &v.GitSHA, &v.PreviewName, &v.PreviewKeep, &v.Digest,
		&v.Status, &v.Error, &v.ErrorOutput, &v.ForkTXID, stamp{&v.ParentAt}, &v.ScrubID, &v.Pinned, &v.PinAuto, &v.SizeBytes,
		&v.Events, &v.ReleasedFrom, &v.HandedOverTo, &v.ObjectNamespace, jsonColumn{&v.Migrated.Names}, micros{&v.Migrated.Took}, stamp{&v.CreatedAt}, stamp{&v.UpdatedAt}, stamp{&v.ReadyAt}, stamp{&v.WokenAt}, stamp{&v.LastRequestAt}, stamp{&v.AsleepAt}, stamp{&v.WakeAt},
		&v.Production)
	return p, err
}

// Version returns one version, which may be destroyed, or NotFound,
// project_not_found or version_not_found.
func (db *DB) Version(ctx context.Context, ref svc.Ref) (v svc.Version, err error) {
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		v, err = version(ctx, tx, ref)
		return err
	})
	return v, err
}

func version(ctx context.Context, tx *sql.Tx, ref svc.Ref) (svc.Version, error) {
	rows, err := versions(ctx, tx, `WHERE v.project_id = ? AND v.id = ?`, ref.Project, ref.Version)
	if err != nil {
		return svc.Version{}, fmt.Errorf("reading version %s: %w", ref, err)
	}
	if len(rows) == 1 {
		return rows[0].row, nil
	}
	if _, err := project(ctx, tx, ref.Project); err != nil {
		return svc.Version{}, err
	}
	return svc.Version{}, svc.Errorf(svc.NotFound, svc.CodeVersionNotFound, "project %q has no version %q", ref.Project, ref.Version)
}

// ListVersions returns a page of a project's versions, newest first [D7]: those with
// the status, or for "" all that are not destroyed [D22].
func (db *DB) ListVersions(ctx context.Context, projectID string, status svc.Status, req svc.PageRequest) (page svc.Page[svc.Version], err error) {
	before, limit := windowOf(req)
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		if _, err := project(ctx, tx, projectID); err != nil {
			return err
		}
		where := `v.status = ?4`
		if status == "" {
			where = `v.status <> 'destroyed'` // a literal, so that SQLite uses the index versions_listed
		}
		rows, err := versions(ctx, tx, `WHERE v.project_id = ?1 AND v.seq < ?2 AND `+where+` ORDER BY v.seq DESC LIMIT ?3`,
			projectID, before, limit, status)
		page = cut(rows, req)
		return err
	})
	if err != nil {
		return svc.Page[svc.Version]{}, fmt.Errorf("listing versions of %s: %w", projectID, err)
	}
	return page, nil
}

// VersionsByStatus returns the versions of all projects with one of these statuses,
// productions first, then oldest first: the order in which a daemon restores them
// [D25].
func (db *DB) VersionsByStatus(ctx context.Context, statuses ...svc.Status) (all []svc.Version, err error) {
	list, err := json.Marshal(statuses)
	if err != nil {
		return nil, fmt.Errorf("listing versions by status: %w", err)
	}
	all, err = db.versionsWhere(ctx, `WHERE v.status IN (SELECT value FROM json_each(?))
		ORDER BY p.prod_version_id IS v.id DESC, v.seq`, string(list))
	if err != nil {
		return nil, fmt.Errorf("listing versions by status: %w", err)
	}
	return all, nil
}

func (db *DB) versionsWhere(ctx context.Context, where string, args ...any) (all []svc.Version, err error) {
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		rows, err := versions(ctx, tx, where, args...)
		for _, r := range rows {
			all = append(all, r.row)
		}
		return err
	})
	return all, err
}

// Counts returns the number of versions per status, without statuses that no version
// has.
func (db *DB) Counts(ctx context.Context) (map[svc.Status]int, error) {
	type count struct {
		status svc.Status
		n      int
	}
	rows, err := collect(ctx, db.file.Read(), func(s scanner) (c count, err error) {
		err = s.Scan(&c.status, &c.n)
		return c, err
	}, `SELECT status, count(*) FROM versions GROUP BY status`)
	if err != nil {
		return nil, fmt.Errorf("counting versions: %w", err)
	}
	counts := map[svc.Status]int{}
	for _, r := range rows {
		counts[r.status] = r.n
	}
	return counts, nil
}

// versions reads whole records. It takes a transaction because several statements
// must read the same state.
func versions(ctx context.Context, tx *sql.Tx, where string, args ...any) ([]positioned[svc.Version], error) {
	rows, err := collect(ctx, tx, scanVersion, selectVersion+where, args...)
	if err != nil {
		return nil, err
	}
	return rows, attach(ctx, tx, rows)
}

// attach adds overrides, timeline and warnings to rows.
func attach(ctx context.Context, tx *sql.Tx, rows []positioned[svc.Version]) error {
	if len(rows) == 0 {
		return nil
	}
	bySeq := make(map[int64]*svc.Version, len(rows))
	seqs := make([]int64, len(rows))
	for i := range rows {
		seqs[i] = rows[i].seq
		bySeq[rows[i].seq] = &rows[i].row
	}
	list, err := json.Marshal(seqs)
	if err != nil {
		return err
	}
	return errors.Join(
		attachEnv(ctx, tx, string(list), bySeq),
		attachTimeline(ctx, tx, string(list), bySeq),
		attachWarnings(ctx, tx, string(list), bySeq),
		attachLabels(ctx, tx, string(list), bySeq),
	)
}

package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Summaries returns the summaries of projects by their ids. A project that does not
// exist has none.
func (db *DB) Summaries(ctx context.Context, projects []string) (map[string]svc.ProjectSummary, error) {
	list, err := json.Marshal(projects)
	if err != nil {
		return nil, fmt.Errorf("summarizing projects: %w", err)
	}
	all := map[string]*svc.ProjectSummary{}
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		if err := summarizeProduction(ctx, tx, string(list), all); err != nil {
			return err
		}
		if err := countVersions(ctx, tx, string(list), all); err != nil {
			return err
		}
		return lastVersions(ctx, tx, string(list), all)
	})
	if err != nil {
		return nil, fmt.Errorf("summarizing projects: %w", err)
	}
	out := make(map[string]svc.ProjectSummary, len(all))
	for id, s := range all {
		out[id] = *s
	}
	return out, nil
}

// summarizeProduction adds a summary for each project. The first production of a project
// is assigned when it becomes ready, without a promotion.
func summarizeProduction(ctx context.Context, tx *sql.Tx, list string, all map[string]*svc.ProjectSummary) error {
	_, err := collect(ctx, tx, func(s scanner) (none struct{}, err error) {
		var id string
		var since time.Time
		if err = s.Scan(&id, stamp{&since}); err == nil {
			all[id] = &svc.ProjectSummary{Versions: map[svc.Status]int{}, ProductionSince: since}
		}
		return none, err
	}, `SELECT p.id, coalesce(
			(SELECT m.finished_at FROM promotions m WHERE m.project_id = p.id AND m.version_id = p.prod_version_id AND m.status = 'done'
				ORDER BY m.seq DESC LIMIT 1),
			(SELECT v.ready_at FROM versions v WHERE v.project_id = p.id AND v.id = p.prod_version_id))
		FROM projects p WHERE p.deleted_at IS NULL AND p.id IN (SELECT value FROM json_each(?))`, list)
	return err
}

func countVersions(ctx context.Context, tx *sql.Tx, list string, all map[string]*svc.ProjectSummary) error {
	_, err := collect(ctx, tx, func(s scanner) (none struct{}, err error) {
		var id string
		var status svc.Status
		var n, pinned int
		if err = s.Scan(&id, &status, &n, &pinned); err == nil && all[id] != nil {
			all[id].Versions[status] = n
			all[id].Pinned += pinned
		}
		return none, err
	}, `SELECT project_id, status, count(*), sum(pinned) FROM versions
		WHERE status <> 'destroyed' AND project_id IN (SELECT value FROM json_each(?)) GROUP BY project_id, status`, list)
	return err
}

// lastVersions adds the newest versions, and the numbers of preview names.
func lastVersions(ctx context.Context, tx *sql.Tx, list string, all map[string]*svc.ProjectSummary) error {
	_, err := collect(ctx, tx, func(s scanner) (none struct{}, err error) {
		var previews int
		v := &svc.Version{}
		err = s.Scan(&v.Project, &previews, &v.Version, &v.Status, &v.GitRef, &v.GitSHA, stamp{&v.CreatedAt}, stamp{&v.ReadyAt})
		if err == nil && all[v.Project] != nil {
			all[v.Project].Last, all[v.Project].Previews = v, previews
		}
		return none, err
	}, `SELECT v.project_id, n.previews, v.id, v.status, v.git_ref, v.git_sha, v.created_at, v.ready_at
		FROM (SELECT max(seq) AS newest, count(DISTINCT nullif(preview_name, '')) AS previews FROM versions
			WHERE status <> 'destroyed' AND project_id IN (SELECT value FROM json_each(?)) GROUP BY project_id) n
		JOIN versions v ON v.seq = n.newest`, list)
	return err
}

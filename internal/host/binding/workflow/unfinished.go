package workflow

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
)

var _ binding.Unfinisher = Kind{}

const (
	sqlHasTable   = `SELECT 1 FROM sqlite_schema WHERE name = 'instance'`
	sqlUnfinished = `SELECT workflow, count(*) FROM instance WHERE status NOT IN ('` + errored + `', '` + terminated + `', '` + complete + `') GROUP BY workflow`
)

// Unfinished counts the instances that have not ended, by workflow. The database is opened by its
// name, because the version need not declare a workflow whose instances a release has moved here.
func (Kind) Unfinished(ctx context.Context, v volume.Volumes) (map[string]int, error) {
	counts := map[string]int{}
	exists, err := v.Exists(ctx, database)
	if err != nil || !exists {
		return counts, err
	}
	db, err := v.Database(ctx, database)
	if err == nil {
		err = db.Read(ctx, func(c *raw.Conn) error { return unfinished(c, counts) })
	}
	if err != nil {
		return nil, fmt.Errorf("counting unfinished instances of workflows: %w", err)
	}
	return counts, nil
}

func unfinished(c *raw.Conn, counts map[string]int) error {
	made := false
	err := c.Query(sqlHasTable, nil, func(*raw.Stmt) error {
		made = true
		return nil
	})
	if err != nil || !made { // a process was killed before it made the tables
		return err
	}
	return c.Query(sqlUnfinished, nil, func(s *raw.Stmt) error {
		counts[s.Text(0)] = int(s.Int64(1))
		return nil
	})
}

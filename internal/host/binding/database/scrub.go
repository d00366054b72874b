package database

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

var _ binding.Scrubber = (*database)(nil)

// Scrub runs sql on what came from a parent, under the policy of migrations. It
// is one transaction with its mark, which is among those of the seeds, so that
// neither a crash nor a descendant runs it again.
func (d *database) Scrub(ctx context.Context, name, id string, sql func() (string, error)) error {
	mine := "scrub of " + id // no seed has such a path
	err := d.db.Write(ctx, func(c *raw.Conn) error {
		return d.change(c, func() error {
			x := d.execution(c, asArrays, nil)
			defer x.resetSettings()
			return c.InTx("BEGIN IMMEDIATE", func() error {
				if done, err := marked(c, mine); err != nil || done {
					return err
				}
				if err := d.scrub(x, sql); err != nil {
					return err
				}
				return mark(c, mine)
			})
		})
	})
	if err != nil {
		return failedScrub(name, err)
	}
	return nil
}

// scrub runs sql, unless everything in the database will be this version's own.
func (d *database) scrub(x *execution, sql func() (string, error)) error {
	if d.db.History().Parent == "" {
		return nil
	}
	filled := false
	err := x.c.Query(`SELECT 1 FROM sqlite_schema WHERE name NOT LIKE '\_cf\_%' ESCAPE '\' LIMIT 1`, nil, func(*raw.Stmt) error {
		filled = true
		return nil
	})
	if err != nil || !filled {
		return err
	}
	text, err := sql()
	if err != nil {
		return err
	}
	return x.script(text)
}

func failedScrub(name string, err error) error {
	what, ok := refusedSQL(err)
	if !ok {
		return fmt.Errorf("scrubbing %s: %w", name, err)
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeScrubFailed, "scrubbing %s: %s", name, what).
		WithHint("nothing of it was done; correct the file of SVC_SCRUB_SQL, start the server again and create a new version")
}

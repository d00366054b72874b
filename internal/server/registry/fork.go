package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// origin is what a new version inherits.
type origin struct {
	parent    string            // "" for none
	env       map[string]string // overrides of parent and request
	scrub     bool              // the version itself requires a scrub
	inherited string            // scrub_id of the parent
}

// scrubID returns the scrub_id of version id. Descendants inherit the scrub of their
// ancestor, because one may open a database that the ancestor had no binding for.
func (o origin) scrubID(id string) string {
	if o.scrub {
		return id
	}
	return o.inherited
}

// origin checks the parent and merges the overrides; those of the request replace
// the parent's. spec: [C5.17] [C5.18].
func (c create) origin(ctx context.Context) (origin, error) {
	id, base, err := c.inherits(ctx)
	if err != nil {
		return origin{}, err
	}
	if id == "" {
		return c.merged(origin{env: map[string]string{}}, base)
	}
	parent, err := version(ctx, c.tx, svc.Ref{Project: c.n.Project, Version: id})
	if errors.Is(err, svc.NotFound) { // the project was read in this transaction
		return origin{}, svc.NoParent(c.n.Project, id).At(parentPointer)
	}
	if err != nil {
		return origin{}, err
	}
	scrub, err := c.o.Forks.Check(c.n.GitRef, parent)
	if err != nil {
		return origin{}, svc.AsError(err).At(parentPointer)
	}
	from := origin{parent: id, env: maps.Clone(parent.Env), scrub: scrub, inherited: parent.ScrubID}
	if c.n.ReleasedFrom != "" { // the overrides are the candidate's
		from.env = map[string]string{}
	}
	return c.merged(from, base)
}

// merged adds to what a version inherits the variables of all previews and the
// request's, each over the one before.
func (c create) merged(from origin, base map[string]string) (origin, error) {
	inherited := len(from.env)
	maps.Copy(from.env, base)
	maps.Copy(from.env, c.n.Env)
	if err := svc.Invalid(svc.CheckEnv(from.env, "/env")); err != nil {
		return origin{}, svc.AsError(err).WithHint("send fewer, or remove some from the parent %s, which has %d", from.parent, inherited)
	}
	return from, nil
}

const parentPointer = "/parent_version_id"

// SetForkTXID records the cut at which a version was forked. Idempotent. A cut that
// differs from the recorded one is a Conflict, fork_mismatch.
func (db *DB) SetForkTXID(ctx context.Context, ref svc.Ref, txid string) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `UPDATE versions SET fork_txid = ?1, updated_at = max(?2, updated_at + 1)
			WHERE project_id = ?3 AND id = ?4 AND fork_txid IN ('', ?1)`, txid, millis(time.Now()), ref.Project, ref.Version)
		if err != nil || n == 1 {
			return err
		}
		v, err := version(ctx, tx, ref)
		if err != nil {
			return err
		}
		return svc.Errorf(svc.Conflict, svc.CodeForkMismatch, "%s was forked at %s, not at %s", ref, v.ForkTXID, txid)
	})
	if err != nil {
		return fmt.Errorf("recording the fork of %s: %w", ref, err)
	}
	return nil
}

// MarkScrub records that the databases of a version must be scrubbed before it
// serves [D23]. The mark cannot be removed.
func (db *DB) MarkScrub(ctx context.Context, ref svc.Ref) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `UPDATE versions SET scrub_id = id, updated_at = max(?, updated_at + 1)
			WHERE project_id = ? AND id = ?`, millis(time.Now()), ref.Project, ref.Version)
		if err == nil && n == 0 {
			_, err = version(ctx, tx, ref) // NotFound for the project or the version
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("marking %s for a scrub: %w", ref, err)
	}
	return nil
}

package registry

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// fullRetryAfter is what a client refused by a full queue is told to wait [D14].
const fullRetryAfter = 5 * time.Second

// CreateOptions are the circumstances of a CreateVersion.
type CreateOptions struct {
	QueueMax       int            // refuse when as many deploys are unfinished; 0 = no limit. SVC_QUEUE_MAX
	IdempotencyKey string         // the client's Idempotency-Key; "" = none [D9]
	BodyHash       string         // of the request body, compared when the key comes again
	Forks          svc.ForkPolicy // says which versions may be parents [D23]
}

// CreateVersion accepts a version: in one transaction it checks the parent,
// gives the version an id when it has none [D2], finds room in the queue, and
// stores the version, its overrides (those of its parent and over them the
// request's) and its deploy job. A repeated request, by its Idempotency-Key or by
// its id [D9], returns the version there is and created false, whatever became
// of the parent and the queue. n must be valid (svc.NewVersion.Validate).
//
// Errors: NotFound, project_not_found; Conflict, version_exists; Unprocessable,
// idempotency_mismatch, parent_not_found, env_too_many_keys or one of
// svc.ForkPolicy; Unavailable, queue_full.
func (db *DB) CreateVersion(ctx context.Context, n svc.NewVersion, o CreateOptions) (v svc.Version, created bool, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		c := create{tx: tx, n: n, o: o, now: time.Now()}
		id, fresh, err := c.accept(ctx)
		if err != nil {
			return err
		}
		created = fresh
		v, err = version(ctx, tx, svc.Ref{Project: n.Project, Version: id})
		return err
	})
	if err != nil {
		return svc.Version{}, false, fmt.Errorf("creating a version of %s: %w", n.Project, err)
	}
	failpoint.Hit("registry/version/created")
	return v, created, nil
}

// create is one CreateVersion under way.
type create struct {
	tx  *sql.Tx
	n   svc.NewVersion
	o   CreateOptions
	now time.Time
}

// accept returns the id of the version that answers the request, and whether
// it is new.
func (c create) accept(ctx context.Context) (id string, fresh bool, err error) {
	if _, err := project(ctx, c.tx, c.n.Project); err != nil {
		return "", false, err
	}
	if id, err = c.recall(ctx); err != nil || id != "" {
		return id, false, err
	}
	repeated, err := c.repeats(ctx)
	if err != nil {
		return "", false, err
	}
	if repeated {
		return c.n.ID, false, c.remember(ctx, c.n.ID)
	}
	from, err := c.origin(ctx)
	if err != nil {
		return "", false, err
	}
	if err := c.room(ctx); err != nil {
		return "", false, err
	}
	if id, err = c.insert(ctx, from); err != nil {
		return "", false, err
	}
	return id, true, c.remember(ctx, id)
}

// repeats reports whether the version exists and is what the request asks for
// [D9]. An id that is taken otherwise is an error, for ever [D2].
func (c create) repeats(ctx context.Context) (bool, error) {
	if c.n.ID == "" {
		return false, nil
	}
	var status svc.Status
	var digest, askedDigest, askedHash string
	err := c.tx.QueryRowContext(ctx, `SELECT status, digest, asked_digest, asked_hash FROM versions WHERE project_id = ? AND id = ?`,
		c.n.Project, c.n.ID).Scan(&status, &digest, &askedDigest, &askedHash)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sameDigest := c.n.Digest == askedDigest || c.n.Digest != "" && c.n.Digest == digest
	switch {
	case status == svc.StatusFailed, status == svc.StatusDestroyed:
		return false, exists(c.n.ID, "exists and is "+string(status))
	case !sameDigest:
		return false, exists(c.n.ID, "exists with another artifact_digest")
	case askedHash != hashAsked(c.n):
		return false, exists(c.n.ID, "exists with another parent or env")
	}
	return true, nil
}

func exists(id, how string) error {
	return svc.Errorf(svc.Conflict, "version_exists", "version %q %s", id, how).
		WithHint("choose another id, or send none and get one: ids are never used twice")
}

// room refuses the request when the queue is full. spec: Errors, queue_full.
func (c create) room(ctx context.Context) error {
	if c.o.QueueMax <= 0 {
		return nil
	}
	depth, err := queueDepth(ctx, c.tx)
	if err != nil || depth < c.o.QueueMax {
		return err
	}
	full := svc.Errorf(svc.Unavailable, "queue_full", "the deploy queue is full: %d of %d", depth, c.o.QueueMax).
		WithHint("try again later")
	full.Queue = &svc.QueueState{Pending: depth, Max: c.o.QueueMax}
	full.RetryAfter = fullRetryAfter
	return full
}

// insert stores the version, its overrides and its job.
func (c create) insert(ctx context.Context, from origin) (id string, err error) {
	if id = c.n.ID; id == "" {
		if id, err = c.freeID(ctx); err != nil {
			return "", err
		}
	}
	res, err := c.tx.ExecContext(ctx, `INSERT INTO versions
		(project_id, id, parent_id, git_ref, git_sha, digest, asked_digest, asked_hash, status, scrub_id, created_at, updated_at)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9, ?10, ?10)`,
		c.n.Project, id, null(c.n.ParentID), c.n.GitRef, c.n.GitSHA, c.n.Digest, hashAsked(c.n), svc.StatusPending, from.scrubID(id), millis(c.now))
	if err != nil {
		return "", err
	}
	seq, err := res.LastInsertId()
	if err != nil {
		return "", err
	}
	return id, errors.Join(setEnv(ctx, c.tx, seq, from.env), addJob(ctx, c.tx, seq, c.now))
}

// freeID is the first generated id from now on that is not taken [D2].
func (c create) freeID(ctx context.Context) (string, error) {
	var at int64
	err := c.tx.QueryRowContext(ctx, `WITH RECURSIVE taken (at) AS (
			SELECT ?1 UNION ALL
			SELECT at + 1 FROM taken WHERE EXISTS (SELECT 1 FROM versions
				WHERE project_id = ?2 AND id = 'v-' || strftime('%Y%m%d%H%M%S', at, 'unixepoch')))
		SELECT max(at) FROM taken`, c.now.Unix(), c.n.Project).Scan(&at)
	return svc.GeneratedID(time.Unix(at, 0)), err
}

// hashAsked condenses the part of a request, besides the digest, that a
// repeated create must have in common [D9]. The overrides themselves may be
// changed later, the request that made them may not.
func hashAsked(n svc.NewVersion) string {
	env := n.Env
	if env == nil {
		env = map[string]string{}
	}
	b, err := json.Marshal([]any{n.ParentID, env}) // keys come sorted
	if err != nil {
		panic("registry: strings do not marshal: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

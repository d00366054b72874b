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

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// fullRetryAfter is the Retry-After of queue_full [D14].
const fullRetryAfter = 5 * time.Second

// CreateVersion creates a version: in one transaction it checks the parent and the
// limit of the queue, generates an id if n has none [D2], and stores the version,
// its overrides (those of the parent, replaced by the request's) and its deploy
// job. A repeated request, by its Idempotency-Key or its id [D9], returns the
// existing version and created false, without these checks. n must be valid
// (svc.NewVersion.Validate).
//
// Errors: NotFound, project_not_found; Conflict, version_exists, preview_name_taken, project_of_other_worker; Unprocessable,
// idempotency_mismatch, parent_not_found, no_production, env_too_many_keys or one of
// svc.ForkPolicy; Unavailable, queue_full.
func (db *DB) CreateVersion(ctx context.Context, n svc.NewVersion, o svc.CreateOptions) (v svc.Version, created bool, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		c := create{tx: tx, n: n, o: o, now: time.Now()}
		id, fresh, err := c.accept(ctx)
		if err != nil {
			return err
		}
		created = fresh
		ref := svc.Ref{Project: n.Project, Version: id}
		svc.AuditDraftOf(ctx).About(ref)
		v, err = version(ctx, tx, ref)
		return err
	})
	if err != nil {
		return svc.Version{}, false, fmt.Errorf("creating a version of %s: %w", n.Project, err)
	}
	failpoint.Hit("registry/version/created")
	return v, created, nil
}

// CreateRelease stores a running release and the version that it makes, in one transaction. The
// version has the overrides of n and no others, and no deploy job. op.Version is set.
//
// Errors: those of CreateVersion and of CreatePromotion.
func (db *DB) CreateRelease(ctx context.Context, n svc.NewVersion, forks svc.ForkPolicy, op *svc.Promotion) (v svc.Version, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		c := create{tx: tx, n: n, o: svc.CreateOptions{Forks: forks}, now: time.Now()}
		id, fresh, err := c.accept(ctx)
		if err != nil {
			return err
		}
		if !fresh {
			return exists(id, "exists")
		}
		ref := svc.Ref{Project: n.Project, Version: id}
		op.Version, op.Kind, op.Candidate = id, svc.KindRelease, n.ReleasedFrom
		svc.AuditDraftOf(ctx).About(ref)
		if err := insertPromotion(ctx, tx, *op, c.now); err != nil {
			return err
		}
		v, err = version(ctx, tx, ref)
		return err
	})
	if err != nil {
		return svc.Version{}, fmt.Errorf("creating a release of %s: %w", n.Project, err)
	}
	failpoint.Hit("registry/release/created")
	return v, nil
}

// create is one call of CreateVersion.
type create struct {
	tx  *sql.Tx
	n   svc.NewVersion
	o   svc.CreateOptions
	now time.Time
}

// accept returns the id of the existing or new version, and whether it is new.
func (c create) accept(ctx context.Context) (id string, fresh bool, err error) {
	p, err := project(ctx, c.tx, c.n.Project)
	if err == nil {
		err = c.ofWorker(ctx, p)
	}
	if err != nil {
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
	if err := c.checkNames(ctx); err != nil {
		return "", false, err
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

// repeats reports whether the version exists and was created by an equal request
// [D9]. Any other use of an existing id is a Conflict: ids are never used twice
// [D2].
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
	case askedHash != hashRequest(c.n):
		return false, exists(c.n.ID, "exists with another parent or env")
	}
	return true, nil
}

func exists(id, how string) error {
	return svc.Errorf(svc.Conflict, svc.CodeVersionExists, "version %q %s", id, how).
		WithHint("choose another id, or omit it to get a generated one; ids are never used twice")
}

// room returns queue_full if the queue is full. spec: [C13.8].
func (c create) room(ctx context.Context) error {
	if c.o.QueueMax <= 0 {
		return nil
	}
	depth, err := queueDepth(ctx, c.tx)
	if err != nil || depth < c.o.QueueMax {
		return err
	}
	full := svc.Errorf(svc.Unavailable, svc.CodeQueueFull, "the deploy queue is full: %d of %d", depth, c.o.QueueMax).
		WithHint("try again later").After(fullRetryAfter)
	full.Queue = &svc.QueueState{Pending: depth, Max: c.o.QueueMax}
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
		(project_id, id, parent_id, git_ref, git_sha, digest, asked_digest, asked_hash, status, scrub_id, created_at, updated_at, preview_name, preview_keep, asleep_at,
			events, released_from, parent_at, object_namespace)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9, ?10, ?10, ?11, ?12, ?13, ?14, ?15, ?16, `+inheritedNamespace+`)`,
		c.n.Project, id, null(from.parent), c.n.GitRef, c.n.GitSHA, c.n.Digest, hashRequest(c.n), svc.StatusPending, from.scrubID(id), millis(c.now),
		c.n.Preview.Name, c.n.Preview.Keep, c.asleepAt(),
		c.n.Events, c.n.ReleasedFrom, millis(c.n.ParentAt))
	if err != nil {
		return "", err
	}
	seq, err := res.LastInsertId()
	if err != nil {
		return "", err
	}
	err = errors.Join(setEnv(ctx, c.tx, seq, from.env), setLabels(ctx, c.tx, seq, c.n.Labels))
	if err == nil && c.n.ReleasedFrom == "" { // the release itself deploys its version
		err = addJob(ctx, c.tx, seq, c.now)
	}
	return id, err
}

// asleepAt is the time of the sleep of a version that begins asleep; NULL for others.
func (c create) asleepAt() any {
	if !c.n.Asleep {
		return nil
	}
	return millis(c.now)
}

// freeID returns the first generated id, from the current second on, that is not
// taken [D2].
func (c create) freeID(ctx context.Context) (string, error) {
	var at int64
	err := c.tx.QueryRowContext(ctx, `WITH RECURSIVE taken (at) AS (
			SELECT ?1 UNION ALL
			SELECT at + 1 FROM taken WHERE EXISTS (SELECT 1 FROM versions
				WHERE project_id = ?2 AND id = 'v-' || strftime('%Y%m%d%H%M%S', at, 'unixepoch')))
		SELECT max(at) FROM taken`, c.now.Unix(), c.n.Project).Scan(&at)
	return svc.GeneratedID(time.Unix(at, 0)), err
}

// hashRequest returns a hash of the fields, other than the digest, that a repeated
// create must have in common [D9]. It is stored because the overrides of a version
// may change later.
func hashRequest(n svc.NewVersion) string {
	env := n.Env
	if env == nil {
		env = map[string]string{}
	}
	asked := []any{n.ParentID, env} // json sorts the keys
	if n.Preview.Name != "" {
		asked = append(asked, n.Preview)
	}
	if n.Asleep {
		asked = append(asked, "asleep")
	}
	if n.Events != svc.EventsOn {
		asked = append(asked, n.Events)
	}
	if !n.ParentAt.IsZero() {
		asked = append(asked, n.ParentAt.UnixMilli())
	}
	b, err := json.Marshal(asked)
	if err != nil {
		panic("registry: strings do not marshal: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

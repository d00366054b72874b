package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/svc"
)

var _ deployqueue.Store = (*DB)(nil)

// claimJob leases a job whose lease has ended, or else the one that is due for the longest
// time. Each part has an index: thousands of jobs may wait for their bundles.
const claimJob = `UPDATE jobs SET owner = ?1, lease_until = ?2, attempt = attempt + 1
	WHERE id = coalesce(
		(SELECT id FROM jobs WHERE lease_until < ?3 ORDER BY lease_until LIMIT 1),
		(SELECT id FROM jobs WHERE lease_until IS NULL AND run_at <= ?3 ORDER BY run_at, id LIMIT 1))
	RETURNING id, attempt, version_seq`

const nextJob = `SELECT min(at) FROM (
	SELECT min(run_at) AS at FROM jobs WHERE lease_until IS NULL UNION ALL
	SELECT min(max(run_at, lease_until + 1)) FROM jobs WHERE lease_until IS NOT NULL)`

// ClaimJob implements deployqueue.Store.
func (db *DB) ClaimJob(ctx context.Context, owner string, lease time.Duration) (job deployqueue.Job, ok bool, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		now := time.Now()
		var seq int64
		err := tx.QueryRowContext(ctx, claimJob, owner, millis(now.Add(lease)), millis(now)).Scan(&job.ID, &job.Attempt, &seq)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		ok = true
		return tx.QueryRowContext(ctx, `SELECT project_id, id FROM versions WHERE seq = ?`, seq).
			Scan(&job.Ref.Project, &job.Ref.Version)
	})
	if err != nil {
		return deployqueue.Job{}, false, fmt.Errorf("claiming a job: %w", err)
	}
	if ok {
		failpoint.Hit("registry/job/claimed")
	}
	return job, ok, nil
}

// NextJob implements deployqueue.Store.
func (db *DB) NextJob(ctx context.Context) (time.Time, error) {
	var at time.Time
	err := db.file.Read().QueryRowContext(ctx, nextJob).Scan(stamp{&at})
	if err != nil {
		return at, fmt.Errorf("reading the next job: %w", err)
	}
	return at, nil
}

// ExtendJob implements deployqueue.Store.
func (db *DB) ExtendJob(ctx context.Context, id int64, owner string, lease time.Duration) error {
	return db.ownedJob(ctx, "extending", id, `UPDATE jobs SET lease_until = ?3 WHERE id = ?1 AND owner = ?2`,
		id, owner, millis(time.Now().Add(lease)))
}

// FinishJob implements deployqueue.Store.
func (db *DB) FinishJob(ctx context.Context, id int64, owner string) error {
	err := db.ownedJob(ctx, "finishing", id, `DELETE FROM jobs WHERE id = ?1 AND owner = ?2`, id, owner)
	if err == nil {
		failpoint.Hit("registry/job/finished")
	}
	return err
}

// putBack ends a lease and subtracts ?4 from the attempts of the job.
const putBack = `UPDATE jobs SET owner = NULL, lease_until = NULL, run_at = ?3, attempt = attempt - ?4 WHERE id = ?1 AND owner = ?2`

// RetryJob implements deployqueue.Store.
func (db *DB) RetryJob(ctx context.Context, id int64, owner string, at time.Time) error {
	return db.ownedJob(ctx, "retrying", id, putBack, id, owner, millis(at), 0)
}

// SnoozeJob implements deployqueue.Store.
func (db *DB) SnoozeJob(ctx context.Context, id int64, owner string, at time.Time) error {
	return db.ownedJob(ctx, "snoozing", id, putBack, id, owner, millis(at), 1)
}

// WakeJob implements deployqueue.Store.
func (db *DB) WakeJob(ctx context.Context, id int64) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		_, err := affected(ctx, tx, `UPDATE jobs SET run_at = ?2 WHERE id = ?1 AND owner IS NULL`, id, millis(time.Now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("waking job %d: %w", id, err)
	}
	return nil
}

// ownedJob runs a statement that must change exactly one job, which its owner holds.
func (db *DB) ownedJob(ctx context.Context, doing string, id int64, query string, args ...any) error {
	err := db.file.InTx(ctx, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, query, args...)
		if err == nil && n == 0 {
			err = svc.Errorf(svc.Precondition, svc.CodeLeaseLost, "the job was claimed by another worker or no longer exists")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s job %d: %w", doing, id, err)
	}
	return nil
}

// RescueJobs implements deployqueue.Store. Each job is due from its creation on, so that the
// oldest is claimed first.
func (db *DB) RescueJobs(ctx context.Context) (n int, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		rescued, err := affected(ctx, tx, `UPDATE jobs SET owner = NULL, lease_until = NULL, run_at = min(run_at, created_at)
			WHERE owner IS NOT NULL OR run_at > ?1`, millis(time.Now()))
		n = int(rescued)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("rescuing jobs: %w", err)
	}
	return n, nil
}

// QueueDepth returns the number of unfinished deploys, including running ones, which
// SVC_QUEUE_MAX limits.
func (db *DB) QueueDepth(ctx context.Context) (int, error) { return queueDepth(ctx, db.file.Read()) }

func queueDepth(ctx context.Context, q querier) (n int, err error) {
	if err := q.QueryRowContext(ctx, `SELECT count(*) FROM jobs`).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting jobs: %w", err)
	}
	return n, nil
}

// addJob queues the deploy of a version.
func addJob(ctx context.Context, tx *sql.Tx, seq int64, now time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO jobs (version_seq, run_at, created_at) VALUES (?1, ?2, ?2)`, seq, millis(now))
	return err
}

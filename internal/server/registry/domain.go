package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const domainColumns = `project_id, host, target, redirect, proof, created_at, proved_at, checked_at, missing_at`

func scanDomain(s scanner) (d svc.Domain, err error) {
	err = s.Scan(&d.Project, &d.Host, &d.Target, &d.Redirect, &d.Proof, stamp{&d.CreatedAt}, stamp{&d.ProvedAt}, stamp{&d.CheckedAt}, stamp{&d.MissingAt})
	return d, err
}

// Domains returns the host names that a project asked for or has, by name.
//
// Errors: NotFound, project_not_found.
func (db *DB) Domains(ctx context.Context, projectID string) (all []svc.Domain, err error) {
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		if _, err := project(ctx, tx, projectID); err != nil {
			return err
		}
		all, err = collect(ctx, tx, scanDomain, `SELECT `+domainColumns+` FROM domains WHERE project_id = ? ORDER BY host`, projectID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing the domains of %s: %w", projectID, err)
	}
	return all, nil
}

// ProvedDomains returns the host names that projects have.
func (db *DB) ProvedDomains(ctx context.Context) ([]svc.Domain, error) {
	all, err := collect(ctx, db.file.Read(), scanDomain, `SELECT `+domainColumns+` FROM domains d WHERE proved_at IS NOT NULL
		AND EXISTS (SELECT 1 FROM projects p WHERE p.id = d.project_id AND p.deleted_at IS NULL) ORDER BY host`)
	if err != nil {
		return nil, fmt.Errorf("listing proved domains: %w", err)
	}
	return all, nil
}

// Domain returns a host name that a project asked for or has.
//
// Errors: NotFound, project_not_found or domain_not_found.
func (db *DB) Domain(ctx context.Context, projectID, host string) (d svc.Domain, err error) {
	err = db.file.InReadTx(ctx, func(tx *sql.Tx) error {
		if _, err := project(ctx, tx, projectID); err != nil {
			return err
		}
		d, err = domain(ctx, tx, projectID, host)
		return err
	})
	return d, err
}

func domain(ctx context.Context, q querier, projectID, host string) (svc.Domain, error) {
	d, err := scanDomain(q.QueryRowContext(ctx, `SELECT `+domainColumns+` FROM domains WHERE project_id = ? AND host = ?`, projectID, host))
	if errors.Is(err, sql.ErrNoRows) {
		return d, svc.Errorf(svc.NotFound, svc.CodeDomainNotFound, "project %s has no domain %q", projectID, host)
	}
	return d, err
}

// PutDomain stores what d says about its host: a new name, or another target or redirect of one. It does
// not change the proof of one that there is, but by the word of an operator; most is the number of names that
// a project may have.
//
// Errors: NotFound, project_not_found; Unprocessable, domain_too_many; Conflict, domain_taken.
func (db *DB) PutDomain(ctx context.Context, d svc.Domain, proof svc.DomainProof, most int) (stored svc.Domain, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		if _, err := project(ctx, tx, d.Project); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO domains (host, project_id, target, redirect, created_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET target = excluded.target, redirect = excluded.redirect`, d.Host, d.Project, d.Target, d.Redirect, millis(time.Now())); err != nil {
			return err
		}
		n := 0
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM domains WHERE project_id = ?`, d.Project).Scan(&n); err != nil {
			return err
		}
		if n > most {
			return svc.Errorf(svc.Unprocessable, svc.CodeDomainTooMany, "project %s has %d domains, the most that it may have", d.Project, most).WithHint("remove one")
		}
		if proof == svc.ProofOperator {
			stored, err = prove(ctx, tx, d.Project, d.Host, proof)
			return err
		}
		stored, err = domain(ctx, tx, d.Project, d.Host)
		return err
	})
	if err != nil {
		return svc.Domain{}, fmt.Errorf("storing the domain %s of %s: %w", d.Host, d.Project, err)
	}
	return stored, nil
}

// ProveDomain records that the project has the host. A proof that there is stays the stronger one: that
// of the operator.
//
// Errors: Conflict, domain_taken; NotFound, domain_not_found.
func (db *DB) ProveDomain(ctx context.Context, projectID, host string, proof svc.DomainProof) (d svc.Domain, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		d, err = prove(ctx, tx, projectID, host, proof)
		return err
	})
	if err != nil {
		return svc.Domain{}, fmt.Errorf("proving the domain %s of %s: %w", host, projectID, err)
	}
	return d, nil
}

func prove(ctx context.Context, tx *sql.Tx, projectID, host string, proof svc.DomainProof) (svc.Domain, error) {
	taken := false
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM domains WHERE host = ? AND project_id <> ? AND proved_at IS NOT NULL)`, host, projectID).Scan(&taken)
	if err == nil && taken {
		err = svc.Errorf(svc.Conflict, svc.CodeDomainTaken, "another project has the domain %s", host).WithHint("remove it there first")
	}
	if err != nil {
		return svc.Domain{}, err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE domains SET proved_at = coalesce(proved_at, ?1), checked_at = ?1, missing_at = NULL,
		proof = CASE WHEN proof = 'operator' THEN proof ELSE ?2 END WHERE host = ?3 AND project_id = ?4`, millis(time.Now()), proof, host, projectID); err != nil {
		return svc.Domain{}, err
	}
	return domain(ctx, tx, projectID, host)
}

// MissDomain records that the DNS text of a host is missing since a time, and returns the record. lost
// takes the host away from the project.
func (db *DB) MissDomain(ctx context.Context, projectID, host string, lost bool) (d svc.Domain, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE domains SET checked_at = ?1, missing_at = coalesce(missing_at, ?1),
			proof = CASE WHEN ?2 THEN '' ELSE proof END, proved_at = CASE WHEN ?2 THEN NULL ELSE proved_at END
			WHERE host = ?3 AND project_id = ?4 AND proof <> 'operator'`, millis(time.Now()), lost, host, projectID); err != nil {
			return err
		}
		d, err = domain(ctx, tx, projectID, host)
		return err
	})
	if err != nil {
		return svc.Domain{}, fmt.Errorf("recording the missing record of the domain %s of %s: %w", host, projectID, err)
	}
	return d, nil
}

// RemoveDomain removes a host name and returns it as it was.
//
// Errors: NotFound, project_not_found or domain_not_found.
func (db *DB) RemoveDomain(ctx context.Context, projectID, host string) (d svc.Domain, err error) {
	err = db.file.InTx(ctx, func(tx *sql.Tx) error {
		if _, err := project(ctx, tx, projectID); err != nil {
			return err
		}
		if d, err = domain(ctx, tx, projectID, host); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM domains WHERE project_id = ? AND host = ?`, projectID, host)
		return err
	})
	if err != nil {
		return svc.Domain{}, fmt.Errorf("removing the domain %s of %s: %w", host, projectID, err)
	}
	return d, nil
}

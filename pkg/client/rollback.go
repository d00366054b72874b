package client

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/pkg/api"
)

// ErrNoPrevious says that a project has no earlier production version.
var ErrNoPrevious = errors.New("no earlier production version")

// RollbackReason begins the reason of a promote that goes back. It is the mark by which
// [Client.RollbackTarget] tells such a promote from one that goes forward. A release that goes back
// needs no mark: it is a release of a version that was production before.
const RollbackReason = "rollback"

// rollbackHistory is how many finished promotions a rollback looks back: two pages.
const rollbackHistory = 400

// Rollback says where the rollback of a project leads.
type Rollback struct {
	Production string // production now
	Version    string // the version to go back to: production before, and not left by a rollback
	// Released reports that production came by a release: its data continues that of Version, so a
	// rollback either keeps the data or restores that of Version. After a promote the two versions
	// have data of their own.
	Released bool
	Earlier  []string // every version that a rollback may name, the newest first; Version is among them
}

// Before returns the version that took the place of Version as production. After rollbacks that kept
// the data it is an earlier one than Production.
func (r Rollback) Before() string {
	if i := slices.Index(r.Earlier, r.Version); i > 0 {
		return r.Earlier[i-1]
	}
	return r.Production
}

// RollbackTarget returns where a rollback leads. A second rollback goes further back: never to a
// version that a rollback left. A version that a rollback released counts as the version whose code
// it has. It returns ErrNoPrevious when there is nothing to go back to.
//
// Codes: project_not_found.
func (c *Client) RollbackTarget(ctx context.Context, project string) (Rollback, error) {
	p, err := c.Project(ctx, project)
	if err != nil {
		return Rollback{}, err
	}
	var newest []api.Promotion // done, of today's production first
	for op, err := range c.AllPromotions(ctx, project) {
		if err != nil {
			return Rollback{}, err
		}
		if newest = followed(newest, op, p.ProdVersionID); len(newest) == rollbackHistory {
			break
		}
	}
	return rollbackOf(newest)
}

// RollbackFrom is [Client.RollbackTarget] by a list of promotions that was read before, the newest
// first. production is the version that is production.
func RollbackFrom(production string, promotions []api.Promotion) (Rollback, error) {
	var newest []api.Promotion
	for _, op := range promotions {
		newest = followed(newest, op, production)
	}
	return rollbackOf(newest)
}

// followed adds a promotion if it is one of those that led to the production.
func followed(newest []api.Promotion, op api.Promotion, production string) []api.Promotion {
	if op.Status != api.PromotionStatusDone || len(newest) == 0 && op.VersionID != production {
		return newest
	}
	return append(newest, op)
}

// PreviousProduction returns the id of the version that a rollback makes production; ErrNoPrevious
// without one. [Client.RollbackTarget] says more.
//
// Codes: project_not_found.
func (c *Client) PreviousProduction(ctx context.Context, project string) (string, error) {
	r, err := c.RollbackTarget(ctx, project)
	return r.Version, err
}

// production is one version in the history that a rollback walks.
type production struct {
	ids      []string // the version, then those whose code it has by rollbacks
	released bool
}

// rollbackOf replays finished promotions, the newest first, as an undo list: each one that goes
// forward adds a production, and a rollback removes those after the one that it goes back to.
func rollbackOf(newest []api.Promotion) (Rollback, error) {
	var history []production
	for _, op := range slices.Backward(newest) {
		if len(history) == 0 && op.PreviousVersionID != "" {
			history = append(history, production{ids: []string{op.PreviousVersionID}})
		}
		history = replay(history, op)
	}
	if len(history) < 2 {
		return Rollback{}, ErrNoPrevious
	}
	last := len(history) - 1
	r := Rollback{Production: history[last].ids[0], Version: history[last-1].ids[0], Released: history[last].released}
	r.Earlier = slices.Clone(history[last].ids[1:])
	for _, p := range slices.Backward(history[:last]) {
		r.Earlier = append(r.Earlier, p.ids...)
	}
	return r, nil
}

// replay adds one promotion to the history.
func replay(history []production, op api.Promotion) []production {
	released := op.Kind == api.PromotionKindRelease
	aim := op.VersionID
	if released {
		aim = op.CandidateVersionID
	}
	if at := before(history, aim); at >= 0 && (released || strings.HasPrefix(op.Reason, RollbackReason)) {
		back := history[at]
		if released {
			back.ids = append([]string{op.VersionID}, back.ids...)
		} else if back.ids[0] != aim { // to the data of then, which is behind a rollback that kept today's
			back.ids = back.ids[slices.Index(back.ids, aim):]
		}
		return append(history[:at:at], back)
	}
	return append(history, production{ids: []string{op.VersionID}, released: released})
}

// before is the index of the newest production with this id or with its code; -1 for none. The
// newest production itself is one if a rollback made it.
func before(history []production, id string) int {
	for i, p := range slices.Backward(history) {
		if at := slices.Index(p.ids, id); at > 0 || at == 0 && i < len(history)-1 {
			return i
		}
	}
	return -1
}

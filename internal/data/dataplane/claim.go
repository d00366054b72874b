package dataplane

import (
	"fmt"
	"os"

	"github.com/svcctl/svcctl/internal/data/replica"
)

// An append that a process sent before it died may arrive later, and take the slot that the next
// process of the same node wants: that one would be fenced, and its acknowledged writes deleted.
//
//   - Where the local file continues the log, that is safe: the file has the transaction that was
//     sent, and the same bytes are sent again.
//   - Else the next process claims a log that the version has written, before it serves the database.
//     After a release nothing is on its way: waking an archived version claims nothing.
//   - A log that the version has not written, as that of a database that it has only inherited, costs
//     no claim: its first write waits for the log instead, in async mode too.

// unclaimedMark is the end of the name of an empty file beside a local file that was made while a late
// append could arrive, until this process or a later one has appended: before that the local file proves
// nothing.
const unclaimedMark = "-unclaimed"

// trust sets whether the local file continues the log. It is called before the file is attached.
func (db *database) trust() error {
	_, missing := os.Lstat(db.path)
	_, unmarked := os.Lstat(db.path + unclaimedMark)
	if db.continues = missing == nil && unmarked != nil; db.continues {
		return nil
	}
	return db.distrust()
}

// distrust marks the local file, which does not exist or is about to be deleted.
func (db *database) distrust() error {
	db.continues = false
	if !db.volumes.grant.Unreleased {
		return nil
	}
	if err := os.WriteFile(db.path+unclaimedMark, nil, 0o600); err != nil {
		return fmt.Errorf("mark local file: %w", err)
	}
	return nil
}

// claimed deletes the mark. One that stays costs the next process a claim.
func (db *database) claimed() { _ = os.Remove(db.path + unclaimedMark) }

// mustClaim reports whether the log must be claimed before the database, which is open, is served.
func (db *database) mustClaim() bool {
	switch {
	case db.volumes.grant.TakenOver:
		return true
	case db.continues:
		return false
	}
	unwritten := db.log.Position() == db.forked()
	db.unclaimed.Store(unwritten)
	return !unwritten
}

// forked is where the log of the version itself begins: 0 unless the database is inherited.
func (db *database) forked() replica.TXID {
	if db.base == nil {
		return 0
	}
	return replica.TXID(db.base.TXID)
}

package crashtest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Schema is that of the databases that [Statement] changes.
const Schema = `
	CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, k, v);
	CREATE INDEX IF NOT EXISTS ti ON t(k);`

// Statement invents a change of every kind that a database can have. inTx is false
// for those that cannot be in a transaction. With undo, the transaction is to be
// rolled back.
func Statement(r *rand.Rand) (sql string, undo, inTx bool) {
	x := fmt.Sprintf("x%d", r.IntN(4))
	few := `(SELECT id FROM t WHERE id >= abs(random()) % (SELECT max(id) FROM t) LIMIT ` + strconv.Itoa(1+r.IntN(30)) + `)`
	many := `WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < ` + strconv.Itoa(20+r.IntN(400)) + `) INSERT INTO t(k, v) SELECT 'big', randomblob(3000) FROM n;`
	switch p := r.IntN(100); {
	case p < 45:
		return fmt.Sprintf(`INSERT INTO t(k, v) VALUES ('k%d', randomblob(%d));`, r.Uint32(), r.IntN(9000)), r.IntN(10) == 0, true
	case p < 60:
		return fmt.Sprintf(`UPDATE t SET v = randomblob(%d) WHERE id IN %s;`, r.IntN(6000), few), r.IntN(10) == 0, true
	case p < 72:
		return `DELETE FROM t WHERE id IN ` + few + `;`, r.IntN(10) == 0, true
	case p < 76:
		return `CREATE TABLE IF NOT EXISTS ` + x + `(a PRIMARY KEY, b); INSERT OR REPLACE INTO ` + x + ` SELECT k, v FROM t LIMIT 100;`, r.IntN(4) == 0, true
	case p < 79:
		return `DROP TABLE IF EXISTS ` + x + `;`, r.IntN(4) == 0, true
	case p < 83: // more than the page cache holds: frames are written before the commit, and some twice
		return many + `UPDATE t SET v = randomblob(2500) WHERE k = 'big';`, true, true
	case p < 87:
		return many, false, true
	case p < 89: // grows the file by pages that are never written
		return `CREATE TABLE g(v); WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 90) INSERT INTO g SELECT zeroblob(3000) FROM n; DROP TABLE g;`, false, true
	case p < 91: // part of a transaction is undone
		return `SAVEPOINT s; ` + many + ` ROLLBACK TO s; INSERT INTO t(k, v) VALUES ('after', randomblob(20)); RELEASE s;`, false, true
	case p < 95:
		return `DELETE FROM t WHERE id < (SELECT max(id) - 700 FROM t);`, false, true
	case p < 96:
		return `VACUUM;`, false, false
	default:
		return `PRAGMA wal_checkpoint(` + []string{"PASSIVE", "FULL", "RESTART", "TRUNCATE"}[r.IntN(4)] + `);`, false, false
	}
}

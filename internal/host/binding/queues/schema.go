package queues

// schema is what the queues of a database live in. Times are in milliseconds since 1970.
const schema = `
CREATE TABLE IF NOT EXISTS queue (
	id     INTEGER PRIMARY KEY,
	name   TEXT NOT NULL UNIQUE,
	paused INTEGER NOT NULL DEFAULT 0,
	count  INTEGER NOT NULL DEFAULT 0, -- of its messages
	bytes  INTEGER NOT NULL DEFAULT 0  -- of their bodies
) STRICT;
CREATE TABLE IF NOT EXISTS queue_message (
	id       INTEGER PRIMARY KEY,
	queue    INTEGER NOT NULL,
	due      INTEGER NOT NULL, -- not delivered before
	sent     INTEGER NOT NULL,
	attempts INTEGER NOT NULL, -- deliveries that have ended
	origin   INTEGER,          -- of a dead message: the queue that it comes from
	key      TEXT NOT NULL,    -- the id that workers see
	type     TEXT NOT NULL,
	body     BLOB
) STRICT;
CREATE INDEX IF NOT EXISTS queue_message_due ON queue_message (queue, due, attempts);
CREATE INDEX IF NOT EXISTS queue_message_sent ON queue_message (queue, sent);
CREATE TABLE IF NOT EXISTS queue_delivery ( -- those under way
	id       INTEGER PRIMARY KEY,
	queue    INTEGER NOT NULL,
	messages TEXT NOT NULL -- a JSON list of ids
) STRICT;`

// The statements of the hot paths, each prepared once per connection.
const (
	sqlInsert = `INSERT INTO queue_message (queue, due, sent, attempts, key, type, body) VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6)`
	// ?2 and ?3 are added.
	sqlAccount = `UPDATE queue SET count = count + ?2, bytes = bytes + ?3 WHERE id = ?1`
	sqlMeasure = `SELECT count, bytes, (SELECT min(sent) FROM queue_message WHERE queue = ?1) FROM queue WHERE id = ?1`
	// Both read the index alone.
	sqlReady = `SELECT id, due, attempts FROM queue_message WHERE queue = ?1 AND due <= ?2 ORDER BY due, id LIMIT ?3`
	sqlLater = `SELECT min(due) FROM queue_message WHERE queue = ?1 AND due > ?2`
	sqlLoad  = `SELECT key, sent, attempts, type, body FROM queue_message WHERE id = ?1`

	sqlBegin = `INSERT INTO queue_delivery (queue, messages) VALUES (?1, ?2)`
	sqlEnd   = `DELETE FROM queue_delivery WHERE id = ?1`
	// A row that was purged meanwhile may have given its id to another message.
	sqlDelete = `DELETE FROM queue_message WHERE id = ?1 AND queue = ?2 AND key = ?3`
	sqlRetry  = `UPDATE queue_message SET due = ?4, attempts = ?5 WHERE id = ?1 AND queue = ?2 AND key = ?3`
	sqlBury   = `UPDATE queue_message SET queue = ?4, origin = ?2, due = ?5, attempts = 0 WHERE id = ?1 AND queue = ?2 AND key = ?3`

	// A delivery that a crash cut off is an attempt.
	sqlCutOff = `UPDATE queue_message SET attempts = attempts + 1 WHERE queue = ?1 AND id IN (
		SELECT m.value FROM queue_delivery AS d, json_each(d.messages) AS m WHERE d.queue = ?1)`
	sqlForget = `DELETE FROM queue_delivery WHERE queue = ?1`
)

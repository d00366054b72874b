package database

import (
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// The limits of a database, which are D1's.
const (
	maxRow        = 2_000_000 // bytes of a string, a blob or a row
	maxSQL        = 100_000   // bytes of a statement
	maxParameters = 100
	maxColumns    = 100
	maxArguments  = 32  // of a function
	maxPattern    = 50  // bytes of a LIKE or GLOB pattern
	maxCompound   = 5   // SELECT terms that UNION and its like join
	maxDepth      = 100 // of an expression
	maxDuration   = 30 * time.Second

	maxRequest = 64 << 20 // bytes of a request's body
	maxAnswer  = 32 << 20 // bytes of rows: their text and their values take more than twice of it in a heap of 128 MiB
)

// limit applies the limits to a connection.
func limit(c *raw.Conn) {
	c.Limit(raw.LimitLength, maxRow)
	c.Limit(raw.LimitSQLLength, maxSQL)
	c.Limit(raw.LimitVariables, maxParameters)
	c.Limit(raw.LimitColumns, maxColumns)
	c.Limit(raw.LimitArguments, maxArguments)
	c.Limit(raw.LimitLikeSize, maxPattern)
	c.Limit(raw.LimitCompound, maxCompound)
	c.Limit(raw.LimitDepth, maxDepth)
	c.Limit(raw.LimitAttached, 0)
}

package database_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/database"
)

func TestKind(t *testing.T) {
	t.Parallel()
	bindingtest.Run(t, database.Kind{}, bindingtest.Suite{
		Good:  bundle.Binding{Name: "B", Kind: "database", Resource: "main"},
		Other: bundle.Binding{Name: "B", Kind: "database", Resource: "Main"},
		Bad: map[string]bundle.Binding{
			"no resource": {Name: "B", Kind: "database"},
			"a config":    {Name: "B", Kind: "database", Resource: "main", Config: json.RawMessage(`{}`)},
			"a long name": {Name: "B", Kind: "database", Resource: strings.Repeat("x", 200)},
		},
		Write: `await B.batch([B.prepare("create table if not exists t(name text primary key, value text)"),
			B.prepare("insert or replace into t values(?, ?)").bind(name, value)]);`,
		Read: `const has = await B.prepare("select 1 from sqlite_master where name = 't'").first();
			return has ? B.prepare("select value from t where name = ?").bind(name).first("value") : null;`,
		Shape: `if (B.constructor.name !== "D1Database") throw new Error(B.constructor.name);`,
		Refused: map[string]string{
			`await B.prepare("select " + "?,".repeat(100) + "?").bind(...Array(101).fill(1)).all()`:                "too many SQL variables",
			`await B.prepare("select '" + "x".repeat(100001) + "'").all()`:                                         "statement too long: SQLITE_TOOBIG",
			`await B.prepare("select ? || ?").bind("x".repeat(1500000), "y".repeat(1500000)).all()`:                "string or blob too big: SQLITE_TOOBIG",
			`await B.prepare("select ?").bind("x".repeat(2000001)).all()`:                                          "string or blob too big: SQLITE_TOOBIG",
			`await B.prepare("create table w(" + Array.from({length: 101}, (_, i) => "c" + i).join() + ")").run()`: "too many columns",
			`await B.prepare("select 'a' like ?").bind("%".repeat(51)).all()`:                                      "LIKE or GLOB pattern too complex",
			`await B.prepare("begin").run()`:                                                                       "please use the state.storage.transaction()",
			`await B.prepare("pragma journal_mode=off").run()`:                                                     "not authorized: SQLITE_AUTH",
			`await B.dump()`: "D1_DUMP_ERROR",
		},
	})
}

package database

import (
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// policy is what the statements of one request may do, and what they were seen
// to do. It answers the engine while a statement is compiled.
type policy struct {
	reader      bool     // the connection cannot write
	importing   bool     // functions that dumps use are allowed too
	needWriter  bool     // refused on a reader, fine on the writer
	transaction bool     // refused for controlling transactions
	hidden      string   // refused for reading this table
	renames     bool     // it may have given a table a new name, which the engine does not ask about
	settings    []string // the settings it changed
}

// allow is the raw.Authorizer.
func (p *policy) allow(a raw.Action) bool {
	switch a.Verb { //nolint:exhaustive // all others name tables only
	case raw.VerbTransaction, raw.VerbSavepoint:
		p.transaction = true
		return false
	case raw.VerbAttach, raw.VerbDetach,
		raw.VerbTempTable, raw.VerbTempIndex, raw.VerbTempTrigger, raw.VerbTempView:
		return false
	case raw.VerbPragma:
		return p.allowPragma(a)
	case raw.VerbFunction:
		return p.allowFunction(strings.ToLower(a.Arg2))
	case raw.VerbCreateVTable:
		return slices.Contains(modules, strings.ToLower(a.Arg2)) && !reserved(a.Arg1)
	case raw.VerbRead:
		if slices.Contains(hiddenTables, strings.ToLower(a.Arg1)) {
			p.hidden = a.Arg1
		}
		return p.hidden == "" && !reserved(a.Arg1)
	case raw.VerbAlterTable:
		p.renames = true
		return !reserved(a.Arg2)
	}
	return !reserved(a.Arg1) && !reserved(a.Arg2)
}

// reserved tells names that are the platform's, as on Cloudflare.
func reserved(name string) bool {
	return len(name) >= 4 && strings.EqualFold(name[:4], "_cf_")
}

// sessionFunctions tell about the connection's earlier writes: only the writer
// has them.
var sessionFunctions = []string{"changes", "last_insert_rowid", "total_changes"} //nolint:gochecknoglobals // constant

func (p *policy) allowFunction(name string) bool {
	if p.reader && slices.Contains(sessionFunctions, name) {
		p.needWriter = true
		return false
	}
	if strings.HasPrefix(name, "sqlite_rename_") || strings.HasPrefix(name, "sqlite_drop_") {
		return true // ALTER TABLE's own; the engine refuses them to others
	}
	_, known := slices.BinarySearch(functions, name)
	return known || p.importing && name == "unistr" // with which newer dumps write control characters
}

func (p *policy) allowPragma(a raw.Action) bool {
	if strings.EqualFold(a.Database, "temp") {
		return false
	}
	name := strings.ToLower(a.Arg1)
	switch pragmas[name] {
	case refused:
		return false
	case anyArgument:
		return !reserved(a.Arg2)
	case noArgument:
		return a.Arg2 == ""
	case setting:
		if a.Arg2 == "" {
			return true
		}
		p.settings = append(p.settings, name)
		return slices.Contains(switches, strings.ToLower(a.Arg2))
	case deferred:
		return a.Arg2 == "" || slices.Contains(switches, strings.ToLower(a.Arg2))
	}
	return false
}

// pragmaRule is how a PRAGMA may be used.
type pragmaRule int

const (
	refused     pragmaRule = iota
	noArgument             // to ask for a value
	anyArgument            // with the name of a thing
	setting                // a switch, which is put back after the request
	deferred               // a switch that ends with the transaction, or does nothing in one
)

// pragmas are the PRAGMA statements that are allowed.
//
//nolint:gochecknoglobals // constant
var pragmas = map[string]pragmaRule{
	"data_version":              noArgument,
	"page_size":                 noArgument,
	"foreign_key_check":         anyArgument,
	"foreign_key_list":          anyArgument,
	"index_info":                anyArgument,
	"index_list":                anyArgument,
	"index_xinfo":               anyArgument,
	"optimize":                  anyArgument,
	"quick_check":               anyArgument,
	"table_info":                anyArgument,
	"table_list":                anyArgument,
	"table_xinfo":               anyArgument,
	"case_sensitive_like":       setting,
	"ignore_check_constraints":  setting,
	"legacy_alter_table":        setting,
	"recursive_triggers":        setting,
	"reverse_unordered_selects": setting,
	"defer_foreign_keys":        deferred,
	"foreign_keys":              deferred,
}

//nolint:gochecknoglobals // constants
var (
	switches = []string{"0", "1", "false", "no", "off", "on", "true", "yes"}
	modules  = []string{"fts5", "fts5vocab", "rtree", "rtree_i32"}
	// hiddenTables show the file's own structure.
	hiddenTables = []string{"dbstat", "sqlite_dbpage", "sqlite_stmt", "bytecode", "tables_used"}
)

// functions are the SQL functions that are allowed, sorted.
//
//nolint:gochecknoglobals // constant
var functions = strings.Fields(`
-> ->> abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil changes char coalesce concat
concat_ws cos cosh count cume_dist current_date current_time current_timestamp date datetime degrees
dense_rank exp first_value floor format fts5 glob group_concat hex highlight ifnull iif instr json
json_array json_array_length json_extract json_group_array json_group_object json_insert json_object
json_patch json_quote json_remove json_replace json_set json_type json_valid jsonb jsonb_array
jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch
jsonb_remove jsonb_replace jsonb_set julianday lag last_insert_rowid last_value lead length like
likelihood likely ln log log2 lower ltrim match max min mod nth_value ntile nullif octet_length
percent_rank pi pow printf quote radians random randomblob rank replace round row_number rtreecheck
rtrim sign sin sinh snippet sqrt strftime string_agg substr substring sum tan tanh time timediff
total total_changes trim trunc typeof unhex unicode unixepoch unlikely upper zeroblob`)

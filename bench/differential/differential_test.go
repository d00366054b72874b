package main

import (
	"slices"
	"testing"
)

// TestTable: the calls can be read, and each pattern of the table names one of them.
func TestTable(t *testing.T) {
	calls, err := readCalls("calls")
	if err != nil || len(calls) < 200 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	table, err := readKnown("../../docs/reference/wrangler-dev.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table.rows {
		for _, pattern := range r.calls {
			if !slices.ContainsFunc(calls, func(c call) bool { return matches(pattern, c.name) }) {
				t.Errorf("no call is named %s", pattern)
			}
		}
	}
}

// TestDiffer: a difference is named by the innermost field, and one that no row has is new.
func TestDiffer(t *testing.T) {
	step := func(class string) *answer {
		return &answer{status: 200, steps: []any{map[string]any{"key": "k", "storageClass": class}, "same"}}
	}
	list := differ(step("a"), step("b"))
	if len(list) != 1 || list[0].what != "storageClass" || list[0].theirs != `"\"a\""` {
		t.Fatalf("%+v", list)
	}
	k := &known{rows: []*row{{calls: []string{"r2/*"}, what: []string{"storageClass"}}, {calls: []string{"kv/*"}}}}
	if !k.has("r2/put", "storageClass") || k.has("kv/put", "storageClass") || k.has("r2/put", "body") || len(k.unused()) != 1 {
		t.Error("the table does not apply")
	}
}

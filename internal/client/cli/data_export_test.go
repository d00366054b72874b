package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// object is the record of an object, and that of its body.
func object(key, body string) []api.DataExportRecord {
	return []api.DataExportRecord{
		{Kind: "object", Op: "insert", Resource: "files", Key: key, Values: map[string]any{"size_bytes": json.Number("3")}},
		{Kind: "body", Resource: "files", Key: key, Data: []byte(body)},
	}
}

// TestExportFiles: each record has its place below the directory, whatever its key and its
// resource are called.
func TestExportFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := &exportWriter{root: filepath.Join(dir, "out")}
	d := &exportedData{VersionID: "v1", ProjectID: "shop"}
	records := []api.DataExportRecord{
		{Kind: "start", VersionID: "v1", AgainstVersionID: "v2", CommonVersionID: "v1"},
		{Kind: "table", Resource: "../up/x", Table: "t", SQL: "CREATE TABLE t"},
		{Kind: "row", Resource: "../up/x", Table: "t", SQL: "INSERT"},
		{Kind: "key", Op: "delete", Resource: "..", Key: "k"},
		{Kind: "key", Op: "update", Resource: "..", Key: "k", Values: map[string]any{"value": map[string]any{"$base64": "/w=="}, "expiration": json.Number("1900000000"), "metadata": map[string]any{"n": json.Number("9007199254740993")}}},
		{Kind: "object", Op: "delete", Resource: "files", Key: "gone"},
		{Kind: "message", Op: "insert", Resource: "jobs", Key: "m1", Values: map[string]any{"body": "x"}},
	}
	for _, key := range []string{"a", "a/b", "../../up", "/abs", "dir/c", "dir", "x//y", "."} {
		records = append(records, object(key, "abc")...)
	}
	records = append(records, api.DataExportRecord{Kind: "end", Written: &api.Unmerged{}})
	for _, r := range records {
		if err := d.add(w, r); err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		got[filepath.ToSlash(name[len(dir)+1:])] = string(content)
		return err
	})
	want := map[string]string{
		"out/d1/..%2Fup%2Fx.sql":      "-- what v1 wrote since the fork, and v2 lacks of shop\nPRAGMA defer_foreign_keys=TRUE;\nCREATE TABLE t;\nINSERT;\n",
		"out/kv/deleted/%2E%2E.jsonl": `{"key":"k"}` + "\n",
		"out/kv/%2E%2E.jsonl":         `{"key":"k","value":"/w==","base64":true,"expiration":1900000000,"metadata":{"n":9007199254740993}}` + "\n",
		"out/queues/jobs.jsonl":       `{"body":"x","id":"m1","op":"insert"}` + "\n",
		"out/r2/files/a":              "abc", "out/r2/files/dir/c": "abc",
		"out/r2/files.other/1": "abc", "out/r2/files.other/2": "abc", "out/r2/files.other/3": "abc", "out/r2/files.other/4": "abc",
		"out/r2/files.other/5": "abc", "out/r2/files.other/6": "abc",
		"out/r2/files.jsonl": `{"deleted":true,"key":"gone","op":"delete"}
{"file":"r2/files/a","key":"a","op":"insert","size_bytes":3}
{"file":"r2/files.other/1","key":"a/b","op":"insert","size_bytes":3}
{"file":"r2/files.other/2","key":"../../up","op":"insert","size_bytes":3}
{"file":"r2/files.other/3","key":"/abs","op":"insert","size_bytes":3}
{"file":"r2/files/dir/c","key":"dir/c","op":"insert","size_bytes":3}
{"file":"r2/files.other/4","key":"dir","op":"insert","size_bytes":3}
{"file":"r2/files.other/5","key":"x//y","op":"insert","size_bytes":3}
{"file":"r2/files.other/6","key":".","op":"insert","size_bytes":3}
`,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// TestExportRefusesRecords: a body that is short, or of another object, and a kind that this
// release does not know.
func TestExportRefusesRecords(t *testing.T) {
	t.Parallel()
	w := &exportWriter{root: t.TempDir()}
	for _, r := range object("short", "ab") {
		if err := w.add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.add(api.DataExportRecord{Kind: "key", Resource: "n", Key: "k"}); !errors.Is(err, client.ErrIncomplete) {
		t.Errorf("a short body: %v", err)
	}
	if err := w.add(api.DataExportRecord{Kind: "body", Key: "other"}); err == nil {
		t.Error("a body without its object is accepted")
	}
	if err := w.add(api.DataExportRecord{Kind: "novel"}); err == nil {
		t.Error("an unknown kind is accepted")
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
}

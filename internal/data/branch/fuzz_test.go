package branch_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svcctl/svcctl/internal/data/branch"
)

// A manifest that is read is written and read again alike, and its databases can be restored.
func FuzzManifest(f *testing.F) {
	for _, text := range []string{
		`{"v":1,"parent":"p/v1","fork_id":"f","at":"2026-11-22T00:00:00Z","src":["p/v1/db/sys"],"stores":{"sys":{"kind":"database","page_size":4096,"fork_txid":7,"base":[[0,0,1,7,100]]}}}`,
		`{"v":1,"parent":"p/v1","src":["a","a"],"stores":{"x":{"fork_txid":1,"base":[[1,9,1,1,1],[0,-1,1,1,1]]}}}`,
		`{"v":2}`, `{"v":1,"parent":"p"}`, `{"v":1,"parent":"p/v","stores":{"":{}}}`, `{"v":1,"parent":"p/v","stores":{"d":{"fork_txid":18446744073709551615,"base":[[0,0,1,9223372036854775807,1]]}},"src":[""]}`, `null`, `{`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again branch.Manifest
		if json.Unmarshal(data, &m) != nil || string(data) == "null" {
			return
		}
		for name, base := range m.Databases {
			if _, err := branch.Plan(base.Files, base.TXID); err != nil {
				t.Errorf("%s cannot be restored: %v", name, err)
			}
		}
		text, err := json.Marshal(&m)
		if err != nil {
			return // a time that JSON cannot express
		}
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatalf("%s was written as %s: %v", data, text, err)
		}
		if diff := cmp.Diff(m, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s changed:\n%s", data, diff)
		}
	})
}

// The key of a file or a blob is read as it was written.
func FuzzKey(f *testing.F) {
	for _, key := range []string{"p/v1/db/sys/ltx/0/0000000000000001-0000000000000007.ltx", "p/v1/blobs/ab", "p/v1/db/sys/ltx/-1/x.ltx", "//", ""} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if file, ok := branch.ParseKey(key); ok && file.Key() != key {
			t.Errorf("%q is %+v, whose key is %q", key, file, file.Key())
		}
		if blob, ok := branch.ParseBlob(key); ok && blob.Key() != key {
			t.Errorf("%q is %+v, whose key is %q", key, blob, blob.Key())
		}
	})
}

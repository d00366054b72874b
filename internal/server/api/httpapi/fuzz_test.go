package httpapi

import (
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// FuzzCursor: an accepted cursor is one that newCursor returns for the list.
func FuzzCursor(f *testing.F) {
	f.Add(*newCursor("projects", 1))
	f.Add(*newCursor("projects", 1<<62))
	f.Add(*newCursor("versions\x00shop\x00", 7))
	f.Add("")
	f.Add("AQ==")
	f.Add((*newCursor("projects", 1))[:20] + "\n" + (*newCursor("projects", 1))[20:])
	f.Fuzz(func(t *testing.T, text string) {
		at, err := readCursor("projects", text)
		if err != nil {
			if svc.CodeOf(err) != "invalid_cursor" {
				t.Errorf("got %v", err)
			}
			return
		}
		if at <= 0 || *newCursor("projects", at) != text {
			t.Errorf("%q is position %d, whose cursor is another", text, at)
		}
	})
}

// FuzzCreateVersionBody: a body that passes the check decodes, and errors contain no
// value of it.
func FuzzCreateVersionBody(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"id":"a","env":{"A":"b"}}`, `{"env":{"A":null}}`, `{"env":null}`, `{"ID":1}`, `{"a/b~":{}}`, `{"upload":1}`, `[`, `{}x`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := createVersionBody(raw)
		if err != nil {
			if e := svc.AsError(err); e.Kind != svc.BadRequest || e.Code == "" || e.Detail == "" {
				t.Errorf("got %#v", e)
			}
			return
		}
		var v api.CreateVersion
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Errorf("%s passed, and does not decode: %v", raw, err)
		}
	})
}

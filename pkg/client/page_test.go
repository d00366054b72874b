package client_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/client"
)

// A list whose cursors repeat ends with an error; its items before come.
func TestRepeatedCursor(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]map[string]string{
		"the same":    {"": "a", "a": "a"},
		"a circle":    {"": "a", "a": "b", "b": "a"},
		"of no value": {"": ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				cursor := r.URL.Query().Get("cursor")
				reply(w, 200, "application/json", `{"items":[{"id":"of`+cursor+`"}],"next_cursor":"`+next[cursor]+`"}`)
			})
			var ids []string
			var failed error
			for p, err := range c.AllProjects(t.Context()) {
				if failed = err; err == nil {
					ids = append(ids, p.ID)
				}
			}
			if failed == nil || !strings.Contains(failed.Error(), "came twice") || client.CodeOf(failed) != "" {
				t.Errorf("after %v: %v", ids, failed)
			}
			if len(ids) != len(next)-1 {
				t.Errorf("items %v", ids)
			}
		})
	}
}

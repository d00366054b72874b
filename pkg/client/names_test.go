package client_test

import (
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/pkg/client"
)

// TestNamesAreOnePartOfThePath: no name makes a request another one.
func TestNamesAreOnePartOfThePath(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{
		"a/b": "a%2Fb", "50%": "50%25", "two words": "two%20words", "..": "%2E%2E", ".": "%2E", "../x": "..%2Fx", "a..b": "a..b", "%2E": "%252E", "a?b#c": "a%3Fb%23c",
	} {
		got := make(chan string, 1)
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			got <- r.RequestURI
			reply(w, http.StatusOK, "application/json", "{}")
		})
		if _, err := c.Queue(t.Context(), client.Queue{Project: name, Version: name, Name: name}); err != nil {
			t.Fatal(err)
		}
		if want := "/v1/projects/" + part + "/versions/" + part + "/queues/" + part; <-got != want {
			t.Errorf("%q is not sent as %s", name, want)
		}
	}
}

package cli

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

// play answers "METHOD last-part-of-the-path" with a status and a version or a
// problem; what it has no answer for takes for ever.
func play(answers map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, word, ok := strings.Cut(answers[r.Method+" "+r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]], " ")
		switch {
		case !ok:
			<-r.Context().Done()
		case status == "503":
			w.Header().Set("Content-Type", api.ProblemContentType)
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `{"code":"`+word+`","status":503,"detail":"it did not work"}`)
		default:
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"id":"v1","project_id":"shop","status":"`+word+`"}`)
		}
	}
}

// A script learns by the exit code whether the work is done, has failed or goes
// on, and how to wait for it then.
func TestArchiveAndWakeEnd(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers map[string]string
		args    string
		code    int
		told    string
	}{
		"archived":       {map[string]string{"POST archive": "200 archived"}, "archive shop/v1", kit.ExitOK, ""}, // though its messages cannot be counted
		"archive late":   {nil, "archive shop/v1 --timeout 50ms", kit.ExitTimeout, "shop/v1 is not archived after 50ms; the archive of shop/v1 continues; to resume waiting:\n  svcctl versions archive shop/v1\n"},
		"not sealed":     {map[string]string{"POST archive": "503 archive_incomplete"}, "archive shop/v1", kit.ExitFailure, "it did not work"},
		"archive busy":   {map[string]string{"POST archive": "503 shutting_down"}, "archive shop/v1", kit.ExitBusy, "it did not work"},
		"no time at all": {nil, "archive shop/v1 --timeout 0", kit.ExitUsage, "--timeout must be more than 0"},
		"woken":          {map[string]string{"POST wake": "202 deploying", "GET v1": "200 ready"}, "wake shop/v1", kit.ExitOK, ""},
		"wake late":      {nil, "wake shop/v1 --timeout 50ms", kit.ExitTimeout, "shop/v1 is not ready after 50ms; the wake of shop/v1 continues; to resume waiting:\n  svcctl versions wake shop/v1\n"},
		"wake later":     {map[string]string{"POST wake": "202 deploying", "GET v1": "200 deploying"}, "wake shop/v1 --timeout 100ms", kit.ExitTimeout, "the wake of shop/v1 continues; to resume waiting:\n  svcctl versions wake shop/v1\n"},
		"wake fails":     {map[string]string{"POST wake": "503 wake_failed"}, "wake shop/v1", kit.ExitFailure, "it did not work"},
		"asleep again": {
			map[string]string{"POST wake": "202 deploying", "GET v1": "200 archived", "GET logs": "200 x"},
			"wake shop/v1", kit.ExitFailure, "the wake failed: version v1 of shop is archived\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errOut := against(t, play(tc.answers), append([]string{"versions"}, strings.Fields(tc.args)...)...)
			if code != tc.code || !strings.Contains(errOut, tc.told) || (out == "") != (code != kit.ExitOK) {
				t.Errorf("exit %d, want %d: %s%s", code, tc.code, out, errOut)
			}
		})
	}
}

// Nothing is asked about a version that does not exist, and nothing in CI.
func TestDeleteAsks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env, args string
		code      int
		told      string
	}{
		"no such version":      {"", "delete shop/v9", kit.ExitNotFound, ""},
		"in CI":                {"CI=true", "delete shop/v2", kit.ExitUsage, "use --yes where the variable CI is set"},
		"not the version's id": {"", "delete shop/v2", kit.ExitUsage, "type v2 to continue"},
		"CI is false":          {"CI=false", "delete shop/v2", kit.ExitUsage, "type v2 to continue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, errs := runs{typed: "no\n", env: []string{tc.env}}.fake(t, newFake(t, "v1", "v1", "v2"), append([]string{"versions"}, strings.Fields(tc.args)...)...)
			if code != tc.code || !strings.Contains(errs, tc.told) || tc.code != kit.ExitUsage && strings.Contains(errs, "type ") || strings.Contains(errs, "type ") && tc.env == "CI=true" {
				t.Errorf("exit %d, want %d: %s", code, tc.code, errs)
			}
		})
	}
}

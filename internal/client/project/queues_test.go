package project_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestQueueNotices: a consumer that nothing sends to, and what an environment lacks.
func TestQueueNotices(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{"wrangler.json": `{"main": "w.js", "compatibility_date": "2026-01-01",
		"queues": {"producers": [{"binding": "A", "queue": "a"}],
			"consumers": [{"queue": "a", "dead_letter_queue": "dead"}, {"queue": "dead"}, {"queue": "alone"}]},
		"env": {"staging": {"queues": {"producers": [{"binding": "A", "queue": "a"}]}}}}`})
	for env, want := range map[string][]string{
		"":        {`queues.consumers[2]: no producer of this file sends to the queue "alone"`},
		"staging": {`env.staging has no "a"`, `env.staging has no "dead"`, `env.staging has no "alone"`},
	} {
		_, notices, err := project.Load(dir, project.Options{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range notices {
			if n.Level == project.Warning {
				got = append(got, n.Text)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %q", env, got)
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%q: %q, want %q", env, got[i], want[i])
			}
		}
	}
}

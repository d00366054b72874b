package svc_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestSentences: an event is said in words, and a part of a deploy or of a promote is not said.
func TestSentences(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]svc.FeedEvent{
		"shop/v3 is being deployed from main":             {Type: "version.created", Data: svc.FeedData{Status: "pending", GitRef: "main"}},
		"shop/v3 is ready":                                {Type: "version.status", Data: svc.FeedData{Status: "ready", Previous: "deploying"}},
		"shop/v3 failed: it threw":                        {Type: "version.status", Data: svc.FeedData{Status: "failed", Previous: "deploying", Error: "it threw"}},
		"shop/v3 was archived":                            {Type: "version.archived", Data: svc.FeedData{Status: "archived"}},
		"shop/v3 became production (was one)":             {Type: "promotion.done", Data: svc.FeedData{Status: "done", Previous: "one"}},
		"shop/v3 did not become production: busy":         {Type: "promotion.done", Data: svc.FeedData{Status: "failed", Error: "busy"}},
		"shop/v3 became the first production":             {Type: "project.production"},
		"shop/v3 crashed and is started again: exited: 1": {Type: svc.FeedRuntimeRestarted, Data: svc.FeedData{Restarts: 1, Error: "exited: 1"}},
		"the server is degraded (was ok): store":          {Type: svc.FeedHealth, Data: svc.FeedData{Status: "degraded", Previous: "ok", Detail: "store"}},
		"ana tried to promote shop/v3: 409 Conflict":      {Type: svc.FeedAudit, Data: svc.FeedData{Actor: "ana", Action: "promoteVersion", Status: "409"}},
		"ana emptied a queue of shop/v3 (full)":           {Type: svc.FeedAudit, Data: svc.FeedData{Actor: "ana", Action: "purgeQueue", Status: "200", Detail: "full"}},
	} {
		e.Project, e.Version = "shop", "v3"
		if about, said := e.Sentence(); about+" "+said != want {
			t.Errorf("%s: got %q", want, about+" "+said)
		}
	}
	for _, e := range []svc.FeedEvent{
		{Type: "version.step"},
		{Type: "version.status", Data: svc.FeedData{Status: "fetching"}},
		{Type: "version.status", Data: svc.FeedData{Status: "ready", Previous: "draining"}},
		{Type: "promotion.started"},
		{Type: "promotion.step"},
		{Type: "queue.depth"},
		{Type: "project.production", Version: "v3", Data: svc.FeedData{Previous: "one"}},
		{Type: svc.FeedAudit, Data: svc.FeedData{Action: "promoteVersion", Status: "202"}},
	} {
		if _, said := e.Sentence(); said != "" {
			t.Errorf("%s: said %q", e.Type, said)
		}
	}
}

// TestAuditSentences: each operation of the API that changes something has words.
func TestAuditSentences(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../pkg/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^    (post|put|patch|delete):\n(?:      .*\n)*?      operationId: (\w+)$`).FindAllStringSubmatch(string(text), -1) {
		found++
		if got := svc.AuditSentence(m[2], "shop", "v3", 200); strings.Contains(got, m[2]) {
			t.Errorf("%s has no words: %s", m[2], got)
		}
	}
	if found < 30 {
		t.Errorf("%d operations", found)
	}
	for _, tc := range []struct {
		action string
		status int
		want   string
	}{
		{"promoteVersion", 202, "promoted shop/v3"},
		{"createVersion", 404, "tried to deploy shop/v3: 404 Not Found"},
		{"setEnv", 0, "changed the variables of shop/v3, and the server ended before it answered"},
		{"collectGarbage", 200, "swept the object store"},
		{"foldVersion", 200, "did foldVersion of shop/v3"},
	} {
		if got := svc.AuditSentence(tc.action, "shop", "v3", tc.status); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

package svc_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestAIModel: an equal name decides before patterns, and the longest pattern before others.
func TestAIModel(t *testing.T) {
	t.Parallel()
	b := svc.AIBackend{Models: []svc.AIModel{{Name: "*", Model: "any"}, {Name: "@cf/meta/*", Model: "llama"}, {Name: "@cf/meta/one", Model: "one"}}}
	for name, want := range map[string]string{"x": "any", "@cf/meta/two": "llama", "@cf/meta/one": "one"} {
		if got, ok := b.Model(name); got != want || !ok {
			t.Errorf("%s: %q", name, got)
		}
	}
	b.Models = b.Models[1:]
	if got, ok := b.Model("x"); ok {
		t.Errorf("x: %q", got)
	}
	if got, ok := (svc.AIBackend{}).Model("x"); got != "x" || !ok {
		t.Errorf("without a map: %q", got)
	}
}

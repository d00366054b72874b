package missing_test

import (
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/missing"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

func TestKind(t *testing.T) {
	t.Parallel()
	const message = "Error: binding B: images is not supported by this server; the version was deployed with --allow-missing"
	bindingtest.Run(t, missing.Kind{}, bindingtest.Suite{
		Good:  bundle.Binding{Name: "B", Kind: "missing", Resource: "images"},
		Other: bundle.Binding{Name: "B", Kind: "missing", Resource: "browser"},
		Bad: map[string]bundle.Binding{
			"no key":   {Name: "B", Kind: "missing"},
			"a config": {Name: "B", Kind: "missing", Resource: "images", Config: json.RawMessage(`{}`)},
		},
		Shape: `if (typeof B !== "object" || !B || (await B) !== B || JSON.stringify({ B }) !== '{"B":{}}' || "run" in B) throw new Error("shape");`,
		Refused: map[string]string{
			`await B.run("model", {})`: message,
			`B.aiGatewayLogId`:         message,
			`B.x = 1`:                  message,
			`const { fetch } = B`:      message,
		},
	})
}

// TestWarnings: a version says which of its bindings are missing.
func TestWarnings(t *testing.T) {
	t.Parallel()
	set := bindingtest.OpenSet(t, nil, []binding.Kind{missing.Kind{}}, bundle.Binding{Name: "AI", Kind: "missing", Resource: "images"})
	if got := set.Warnings(); len(got) != 1 || got[0] != "binding AI: images is not supported; every use of the binding throws" {
		t.Errorf("%q", got)
	}
}

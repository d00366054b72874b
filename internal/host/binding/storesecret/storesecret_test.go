package storesecret_test

import (
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/storesecret"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

func TestKind(t *testing.T) {
	t.Parallel()
	bindingtest.Run(t, storesecret.Kind{}, bindingtest.Suite{
		Good:  bundle.Binding{Name: "B", Kind: "store_secret", Resource: "STORED"},
		Other: bundle.Binding{Name: "B", Kind: "store_secret", Resource: "OTHER"},
		Bad: map[string]bundle.Binding{
			"no name":  {Name: "B", Kind: "store_secret"},
			"a config": {Name: "B", Kind: "store_secret", Resource: "X", Config: json.RawMessage(`{}`)},
		},
		Shape:   `if (typeof B.get !== "function" || JSON.stringify(B) !== "{}") throw new Error("shape");`,
		Refused: map[string]string{`await B.get()`: `not found: set it with svcctl env set`},
	})
}

// TestValue: the value is the variable of the version, and only for get.
func TestValue(t *testing.T) {
	t.Parallel()
	w := storesecret.Kind{}.Wire(bundle.Binding{Name: "B", Kind: "store_secret", Resource: "S"}, binding.Site{Env: map[string]string{"S": "value"}})
	if inner := w.Binding.Wrapped.Inner; len(inner) != 2 || *inner[1].Text != "value" {
		t.Errorf("%+v", inner)
	}
}

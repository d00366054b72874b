package kv_test

import (
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/kv"
)

func TestKind(t *testing.T) {
	t.Parallel()
	bindingtest.Run(t, kv.Kind{}, bindingtest.Suite{
		Good:  bundle.Binding{Name: "B", Kind: "kv", Resource: "one"},
		Other: bundle.Binding{Name: "B", Kind: "kv", Resource: "two"},
		Bad: map[string]bundle.Binding{
			"no resource": {Name: "B", Kind: "kv"},
			"a config":    {Name: "B", Kind: "kv", Resource: "one", Config: json.RawMessage(`{}`)},
		},
		Write: `await B.put(name, value);`,
		Read:  `return B.get(name);`,
		Shape: `if (B.constructor.name !== "KvNamespace") throw new Error(B.constructor.name);`,
		Refused: map[string]string{
			`await B.put("k", "v".repeat(25 * 1024 * 1024 + 1))`: "KV PUT failed: 413 Value length of 26214401 exceeds limit of 26214400.",
			`await B.put("k".repeat(513), "v")`:                  "exceeds key length limit of 512",
			`await B.put("k", "v", { expirationTtl: 5 })`:        "KV PUT failed: 400 Invalid expiration_ttl of 5. Expiration TTL must be at least 60.",
			`await B.list({ limit: 1001 })`:                      "KV GET failed: 400 Invalid key_count_limit of 1001.",
		},
	})
}

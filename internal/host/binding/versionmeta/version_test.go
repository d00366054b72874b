package versionmeta_test

import (
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/versionmeta"
)

func TestKind(t *testing.T) {
	t.Parallel()
	bindingtest.Run(t, versionmeta.Kind{}, bindingtest.Suite{
		Good:  bundle.Binding{Name: "B", Kind: "version_metadata"},
		Other: bundle.Binding{Name: "B", Kind: "version_metadata"},
		Bad: map[string]bundle.Binding{
			"a resource": {Name: "B", Kind: "version_metadata", Resource: "x"},
			"a config":   {Name: "B", Kind: "version_metadata", Config: json.RawMessage(`{}`)},
		},
		Shape: `const want = { id: "v1", tag: "main", timestamp: "2026-11-20T01:02:03.004Z" };
			if (JSON.stringify(B) !== JSON.stringify(want)) throw new Error(JSON.stringify(B));`,
	})
}

package kit_test

import (
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	type page struct {
		Items []api.Version `json:"items"`
	}
	versions := []api.Version{{ID: "v1", ProjectID: "shop", SizeBytes: 1 << 60}, {ID: "v2", ProjectID: "shop"}}
	for name, tc := range map[string]struct {
		format string
		value  any
		want   string
	}{
		"names of versions": {"name", versions, "shop/v1\nshop/v2\n"},
		"names in a page":   {"name", page{versions}, "shop/v1\nshop/v2\n"},
		"name of a project": {"name", api.Project{ID: "shop"}, "shop\n"},
		"names of keys":     {"name", []api.Key{{Name: "a"}, {Name: "b\x1b"}}, "a\nb\n"},
		"name of a change":  {"name", map[string]any{"key": "k", "version_id": "v1"}, "k\n"},
		"yaml":              {"yaml", map[string]any{"b": []int{1}, "a": int64(1) << 60}, "a: 1152921504606846976\nb:\n  - 1\n"},
		"yaml for a screen": {"yaml", map[string]string{"a": "x\u202e\u009b\U000e0041", "b": "z"}, "a: \"x\\U0000202e\\x9B\\U000E0041\"\nb: z\n"},
		"json for a screen": {"json", "x\u202e\u009b\U000e0041", `"x\u202e\u009b\udb40\udc41"` + "\n"},
		"wide":              {"wide", versions, ""},
	} {
		k, out, _ := newKit(t)
		k.Output = tc.format
		texts := 0
		if err := k.Print(tc.value, func() { texts++ }); err != nil || out.String() != tc.want {
			t.Errorf("%s: %q, %v", name, out, err)
		}
		if (texts == 1) != (tc.format == "wide") || k.CheckOutput() != nil {
			t.Errorf("%s: text %d times", name, texts)
		}
	}
}

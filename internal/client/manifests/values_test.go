package manifests_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svcctl/svcctl/internal/client/manifests"
	"github.com/svcctl/svcctl/packaging/chart"
)

// TestSchema: the schema knows each value of values.yaml and no other, and takes the defaults.
func TestSchema(t *testing.T) {
	t.Parallel()
	defaults, err := manifests.Defaults()
	if err != nil {
		t.Fatal(err)
	}
	if err := manifests.Check(defaults); err != nil {
		t.Error(err)
	}
	text, err := fs.ReadFile(chart.Files, "svcctl/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	names := inSchema("", schema)
	if i := slices.Index(names, "global"); i < 0 {
		t.Error("the schema does not know global, which Helm sets")
	} else {
		names = slices.Delete(names, i, i+1)
	}
	slices.Sort(names)
	if got := inValues("", defaults, names); !slices.Equal(got, names) {
		t.Errorf("values.yaml has\n%q, the schema\n%q", got, names)
	}
}

// TestCheckAgrees: Check takes and refuses what the library of Helm does.
func TestCheckAgrees(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(chart.Files, "svcctl/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("values.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	list := []string{
		"", needed, everything, "global: {a: 1}", "hosts: {spares: 1.5}", "hosts: {spares: 2.0}", "hosts: {spares: 1001}", "hosts: []",
		"clusterDomain: ''", "image: {pullSecrets: [a, B_]}", "image: {pullSecrets: [1]}", "hosts: {resources: {limits: {cpu: 2, memory: 1Gi}}}", "hosts: {resources: {claims: []}}",
		"hosts: {tolerations: [a]}", "gateway: {settings: {lower: a}}", "gateway: {service: {externalTrafficPolicy: ''}}", "gateway: {service: {port: 0}}", "ingress: {enabled: yes please}",
		"hosts: {podTemplate: {spec: {hostUsers: false}}}", "hosts: {podTemplate: {status: {}}}", "s3: {endpoint: 'https://a?b'}", "networkPolicy: {clusterRanges: [10.0.0.0]}", "trialStore: {size: ten}",
	}
	for own := range wrongValues() {
		list = append(list, own)
	}
	for _, own := range list {
		v := values(t, own)
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		want, got := schema.Validate(plain), manifests.Check(v)
		if (want == nil) != (got == nil) {
			t.Errorf("%s: the library says %v, Check %v", own, want, got)
		}
	}
}

// inSchema are the names of the schema that have no names below them. Those below
// hosts.podTemplate are Kubernetes' own.
func inSchema(at string, schema map[string]any) (list []string) {
	properties, _ := schema["properties"].(map[string]any)
	if len(properties) == 0 || at == "hosts.podTemplate" {
		return []string{at}
	}
	if schema["additionalProperties"] != false {
		return []string{fmt.Sprintf("%s takes other names", at)}
	}
	for name, below := range properties {
		inner, _ := below.(map[string]any)
		list = append(list, inSchema(strings.TrimPrefix(at+"."+name, "."), inner)...)
	}
	return list
}

// inValues are the names of values down to those that leaves has.
func inValues(at string, v any, leaves []string) (list []string) {
	below, isMap := v.(map[string]any)
	if !isMap || slices.Contains(leaves, at) {
		return []string{at}
	}
	for name, value := range below {
		list = append(list, inValues(strings.TrimPrefix(at+"."+name, "."), value, leaves)...)
	}
	slices.Sort(list)
	return list
}

func TestParseSet(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	for text, want := range map[string]m{
		"host=a.example": {"host": "a.example"}, "hosts.spares=3": {"hosts": m{"spares": 3}}, "a.b.c=true": {"a": m{"b": m{"c": true}}},
		"a=": {"a": nil}, "a=null": {"a": nil}, `a='2'`: {"a": "2"}, "a={b: [1, x]}": {"a": m{"b": []any{1, "x"}}},
		`hosts.nodeSelector.example\.com/pool=a=b`: {"hosts": m{"nodeSelector": m{"example.com/pool": "a=b"}}}, `a\=b=c`: {"a=b": "c"},
	} {
		if got, err := manifests.ParseSet(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "host", "=a", "a..b=c", ".=c", "a=[", `a\=b`} {
		if got, err := manifests.ParseSet(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	base := m{"a": 1, "b": m{"c": 2, "d": m{"e": 3}}, "f": []any{1}}
	got := manifests.Merge(base, m{"b": m{"c": nil, "d": m{"g": 4}}, "f": []any{2}, "h": m{"i": nil, "j": 5}})
	if want := (m{"a": 1, "b": m{"d": m{"e": 3, "g": 4}}, "f": []any{2}, "h": m{"i": nil, "j": 5}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !reflect.DeepEqual(base, m{"a": 1, "b": m{"c": 2, "d": m{"e": 3}}, "f": []any{1}}) {
		t.Errorf("the base is now %v", base)
	}
	if _, err := manifests.ParseValues([]byte("[1]")); err == nil {
		t.Error("a list is taken for values")
	}
}

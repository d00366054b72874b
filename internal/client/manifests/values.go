package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/svcctl/svcctl/packaging/chart"
)

// root is the directory of the chart in chart.Files.
const root = "svcctl"

// ValueError reports values that cannot be rendered: of a wrong type or name, or missing.
type ValueError struct {
	Missing string // name of a value that is required and not set; "" for another error

	text string
}

func (e *ValueError) Error() string { return e.text }

func wrong(format string, args ...any) error { return &ValueError{text: fmt.Sprintf(format, args...)} }

// Defaults returns the values of the chart.
func Defaults() (map[string]any, error) {
	text, err := fs.ReadFile(chart.Files, root+"/values.yaml")
	if err != nil {
		return nil, err
	}
	return ParseValues(text)
}

// ParseValues reads a file of values. The error does not name the file.
func ParseValues(text []byte) (map[string]any, error) {
	values := map[string]any{}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&values); err != nil && !errors.Is(err, io.EOF) {
		return nil, wrong("not a mapping of values: %v", err)
	}
	return values, nil
}

// ParseSet reads NAME.NAME=VALUE. VALUE is YAML; a dot or an equals sign in a name has a backslash before it.
func ParseSet(text string) (map[string]any, error) {
	path, value, ok := cut(text)
	if !ok || slices.Contains(path, "") {
		return nil, wrong("%q: want NAME.NAME=VALUE", text)
	}
	var v any
	if err := yaml.Unmarshal([]byte(value), &v); err != nil {
		return nil, wrong("the value of %s is not YAML: %v", strings.Join(path, "."), err)
	}
	for _, name := range slices.Backward(path) {
		v = map[string]any{name: v}
	}
	return v.(map[string]any), nil //nolint:forcetypeassert // path has at least one name
}

// cut splits text at the dots before its first equals sign, and there.
func cut(text string) (path []string, value string, ok bool) {
	var name strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			name.WriteByte(text[i])
		case c == '.':
			path = append(path, name.String())
			name.Reset()
		case c == '=':
			return append(path, name.String()), text[i+1:], true
		default:
			name.WriteByte(c)
		}
	}
	return nil, "", false
}

// Merge puts over over base as Helm does: maps are merged, other values replace, and null removes
// a name that base has. It changes neither.
func Merge(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	for name, value := range over {
		inner, isMap := value.(map[string]any)
		below, wasMap := out[name].(map[string]any)
		_, known := out[name]
		switch {
		case value == nil && known:
			delete(out, name)
		case isMap && wasMap:
			out[name] = Merge(below, inner)
		default:
			out[name] = value
		}
	}
	return out
}

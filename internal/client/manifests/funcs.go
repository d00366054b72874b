package manifests

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// functions are those that templates may use besides text/template's own. Each does what Helm's
// function of the name does.
func functions(t *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			err := t.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"required":       required,
		"default":        fallback,
		"quote":          func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
		"nindent":        nindent,
		"toYaml":         toYAML,
		"fromYaml":       fromYAML,
		"mergeOverwrite": overwrite,
	}
}

// required refuses a value that is not set. message begins with its name.
func required(message string, v any) (any, error) {
	if v == nil || v == "" {
		name, _, _ := strings.Cut(message, " ")
		return nil, &ValueError{Missing: name, text: message}
	}
	return v, nil
}

func fallback(otherwise, v any) any {
	if set, _ := template.IsTrue(v); set {
		return v
	}
	return otherwise
}

// nindent begins a line and indents all lines by n spaces.
func nindent(n int, text string) string {
	pad := "\n" + strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(text, "\n", pad)
}

func toYAML(v any) (string, error) {
	var out strings.Builder
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(v), enc.Close())
	return strings.TrimSuffix(out.String(), "\n"), err
}

func fromYAML(text string) (map[string]any, error) {
	out := map[string]any{}
	err := yaml.Unmarshal([]byte(text), &out)
	return out, err
}

// overwrite puts over over base: maps are merged, other values replace.
func overwrite(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	for name, value := range over {
		inner, isMap := value.(map[string]any)
		if below, wasMap := out[name].(map[string]any); isMap && wasMap {
			value = overwrite(below, inner)
		}
		out[name] = value
	}
	return out
}

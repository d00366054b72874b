package manifests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svcctl/svcctl/packaging/chart"
)

// schemaFile is the name of the schema in the chart, which Helm reads, too.
const schemaFile = "values.schema.json"

// schema is a JSON schema with the keywords that the chart's uses. A library for all keywords would
// cost each start of the program 4 ms and 12 MiB.
type schema struct {
	Dialect     string             `json:"$schema"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Definitions map[string]*schema `json:"definitions"`
	Ref         string             `json:"$ref"` // #/definitions/NAME

	Type      types    `json:"type"`
	Enum      []string `json:"enum"`
	Pattern   string   `json:"pattern"`
	MinLength int      `json:"minLength"`
	Minimum   *float64 `json:"minimum"`
	Maximum   *float64 `json:"maximum"`

	Items                *schema            `json:"items"`
	Properties           map[string]*schema `json:"properties"`
	Required             []string           `json:"required"`
	AdditionalProperties *schema            `json:"additionalProperties"`
	PropertyNames        *schema            `json:"propertyNames"`

	refuses bool // the schema is false
}

// types are the names of one type or of several.
type types []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// UnmarshalJSON implements json.Unmarshaler. It refuses keywords that Check does not know.
func (s *schema) UnmarshalJSON(text []byte) error {
	if string(text) == "false" {
		s.refuses = true
		return nil
	}
	type plain schema
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(s))
}

// Check compares values with the schema of the chart. The error lists all that differ.
func Check(values map[string]any) error {
	text, err := fs.ReadFile(chart.Files, root+"/"+schemaFile)
	if err != nil {
		return err
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s: %w", schemaFile, err)
	}
	c := checker{definitions: s.Definitions}
	c.value("", &s, values)
	if len(c.problems) == 0 {
		return nil
	}
	return wrong("%s", strings.Join(c.problems, "\n"))
}

type checker struct {
	definitions map[string]*schema
	problems    []string
}

func (c *checker) wrong(at, format string, args ...any) {
	c.problems = append(c.problems, cmp.Or(at, "values")+": "+fmt.Sprintf(format, args...))
}

func (c *checker) value(at string, s *schema, v any) {
	if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
		s = c.definitions[name]
	}
	is := typeOf(v)
	switch {
	case s.refuses:
		c.wrong(at, "the chart sets it itself")
	case len(s.Type) > 0 && !slices.Contains(s.Type, is) && (is != "integer" || !slices.Contains(s.Type, "number")):
		c.wrong(at, "want %s, got %s", strings.Join(s.Type, " or "), is)
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, fmt.Sprint(v)):
		c.wrong(at, "want one of %q", s.Enum)
	}
	switch v := v.(type) {
	case string:
		c.text(at, s, v)
	case []any:
		for i, item := range v {
			c.value(fmt.Sprintf("%s[%d]", at, i), cmp.Or(s.Items, &schema{}), item)
		}
	case map[string]any:
		c.object(at, s, v)
	default:
		c.number(at, s, v)
	}
}

func (c *checker) text(at string, s *schema, v string) {
	if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) || utf8.RuneCountInString(v) < s.MinLength {
		c.wrong(at, "%q is not valid", v)
	}
}

func (c *checker) number(at string, s *schema, v any) {
	n, ok := numberOf(v)
	if ok && s.Minimum != nil && n < *s.Minimum {
		c.wrong(at, "want at least %v, got %v", *s.Minimum, v)
	}
	if ok && s.Maximum != nil && n > *s.Maximum {
		c.wrong(at, "want at most %v, got %v", *s.Maximum, v)
	}
}

func (c *checker) object(at string, s *schema, v map[string]any) {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			c.wrong(at, "%s is missing", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		path := strings.TrimPrefix(at+"."+name, ".")
		if s.PropertyNames != nil {
			c.value(path, s.PropertyNames, name)
		}
		inner := cmp.Or(s.Properties[name], s.AdditionalProperties, &schema{})
		if inner.refuses && s.Properties[name] == nil {
			c.wrong(path, "unknown value")
			continue
		}
		c.value(path, inner, v[name])
	}
}

// typeOf is the name of a value's type in JSON.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	n, ok := numberOf(v)
	switch {
	case !ok:
		return fmt.Sprintf("%T", v)
	case n == float64(int64(n)):
		return "integer"
	}
	return "number"
}

func numberOf(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

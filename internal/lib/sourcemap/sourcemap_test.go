package sourcemap_test

import (
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/svcctl/svcctl/internal/lib/sourcemap"
)

const source = `interface Unused { a: string }

const greet = (name: string): string => {
  const text = "hello " + name
  throw new Error(text)
}
export default { fetch: (): Response => new Response(greet("world")) }
`

// Each word of the built file leads to the same word of the source.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, minify := range []bool{false, true} {
		built := api.Transform(source, api.TransformOptions{
			Loader: api.LoaderTS, Sourcemap: api.SourceMapExternal, Sourcefile: "src/index.ts",
			MinifyWhitespace: minify, SourcesContent: api.SourcesContentInclude,
		})
		m, err := sourcemap.Parse(built.Map)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"const greet", "const text", "throw new", "new Error", "new Response", `greet("world")`} {
			line, column := position(t, string(built.Code), word)
			p, ok := m.Find(line, column)
			wantLine, wantColumn := position(t, source, word)
			if !ok || p.Line != wantLine || p.Column != wantColumn || p.Source != "src/index.ts" || p.Content != source {
				t.Errorf("minify %v, %q: %+v, want %d:%d", minify, word, p, wantLine, wantColumn)
			}
		}
	}
}

func position(t *testing.T, text, word string) (line, column int) {
	t.Helper()
	at := strings.Index(text, word)
	if at < 0 {
		t.Fatalf("%q is not in %q", word, text)
	}
	before := text[:at]
	return strings.Count(before, "\n") + 1, at - strings.LastIndex(before, "\n")
}

func TestFindOutside(t *testing.T) {
	t.Parallel()
	m, err := sourcemap.Parse([]byte(`{"version":3,"sources":["a"],"mappings":"A,CAAA;;EAAC"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]int{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {1, 0}} {
		if p, ok := m.Find(at[0], at[1]); ok {
			t.Errorf("%v: %+v", at, p)
		}
	}
	if p, ok := m.Find(3, 9); !ok || p.Line != 1 || p.Column != 2 {
		t.Errorf("%+v %v", p, ok)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":3,"sources":["a","b"],"sourcesContent":[null,"x"],"mappings":"AAAA;AACA,gBCAC"}`))
	f.Add([]byte(`{"version":3,"sources":[],"mappings":"gggggggggggg"}`))
	f.Add([]byte(`{"version":3,"sources":["a"],"mappings":"AADA"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := sourcemap.Parse(data)
		if err != nil {
			return
		}
		m.Find(1, 1)
		m.Find(2, 40)
	})
}

package inspect

import (
	"encoding/base64"
	"strings"
	"testing"
)

// The report of a module with a source map gets it, with absolute sources; all other
// messages are unchanged.
func TestRewrite(t *testing.T) {
	t.Parallel()
	s := Scripts{Root: "/home/a b", Maps: map[string][]byte{"src/index.js": []byte(`{"version":3,"sources":["src/index.ts","https://x.test/lib.ts"],"mappings":"AAAA"}`)}}
	got := string(s.rewrite([]byte(`{"method":"Debugger.scriptParsed","params":{"scriptId":"9","url":"src/index.js","sourceMapURL":""}}`)))
	_, data, _ := strings.Cut(got, "base64,")
	data, _, _ = strings.Cut(data, `"`)
	text, err := base64.StdEncoding.DecodeString(data)
	if want := `"sources":["file:///home/a%20b/src/index.ts","https://x.test/lib.ts"]`; err != nil || !strings.Contains(string(text), want) || !strings.Contains(got, `"scriptId":"9"`) {
		t.Errorf("%s %s %v", got, text, err)
	}
	for _, same := range []string{
		`{"id":1,"result":{"text":"\"Debugger.scriptParsed\""}}`,
		`{"method":"Debugger.scriptParsed","params":{"url":"other.js","sourceMapURL":""}}`,
		`{"method":"Debugger.scriptParsed","params":{"url":7}}`,
		`"Debugger.scriptParsed"`,
	} {
		if got := string(s.rewrite([]byte(same))); got != same {
			t.Errorf("%s became %s", same, got)
		}
	}
}

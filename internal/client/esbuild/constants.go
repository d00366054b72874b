package esbuild

import (
	"bytes"
	"regexp"
	"strings"
)

// exportList is the one list of exports, with which esbuild ends a module.
var exportList = regexp.MustCompile(`(?s)export\s*\{([^{}]*)\};?\s*$`)

// withoutConstants takes exports of strings, numbers and other primitive values from the list
// of the entry module. Cloudflare ignores them, and workerd does not start a worker that has
// one. The other modules of the worker have been bundled with it, so that no module imports
// them.
func withoutConstants(content []byte) []byte {
	at := exportList.FindSubmatchIndex(content)
	if at == nil {
		return content
	}
	var kept []string
	names := strings.Split(string(content[at[2]:at[3]]), ",")
	for _, name := range names {
		local, _, _ := strings.Cut(strings.TrimSpace(name), " as ")
		if local != "" && !isConstant(content, local) {
			kept = append(kept, strings.TrimSpace(name))
		}
	}
	if len(kept) == len(names) {
		return content
	}
	return append(bytes.Clone(content[:at[0]]), "export { "+strings.Join(kept, ", ")+" };\n"...)
}

// isConstant reports whether a variable of a module is declared as a literal of a primitive
// value, and nothing else has its name.
func isConstant(content []byte, name string) bool {
	name = regexp.QuoteMeta(name)
	declared := `(?m)(?:^|[;}])(?:var|let|const)\s+(?:[^;\n]*,)?` + name + `\s*=\s*`
	literal := "(?:[\"'`0-9]|-[0-9]|(?:true|false|null|void 0)\\b|![01])"
	return regexp.MustCompile(declared+literal).Match(content) && !regexp.MustCompile(`\b(?:class|function\*?)\s+`+name+`\b`).Match(content)
}

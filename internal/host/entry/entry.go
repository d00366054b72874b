package entry

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/svcctl/svcctl/internal/host/workerd"
)

var (
	//go:embed entry.js
	source string
	//go:embed context.js
	context string
	//go:embed console.js
	console string
	//go:embed subrequests.js
	subrequests string
	//go:embed email.js
	email string
)

// Extensions are the modules that know the Invocation of an event: svc-internal:context, for
// modules of the platform, and svc:context, the same for the entry module, which stands
// among the worker's own modules and cannot import the first. svc:console gives lines of
// the console the id of their invocation. svc:subrequests refuses the calls of fetch of an
// invocation beyond limit; 0 is no limit. cloudflare-internal:email makes the module
// cloudflare:email of workers.
func Extensions(limit int) []workerd.Module {
	counted := fmt.Sprintf("const LIMIT = %d;\n%s", limit, subrequests)
	if limit == 0 {
		counted = ""
	}
	return []workerd.Module{
		{Name: "svc-internal:context", Type: workerd.ESModule, Source: context},
		{Name: "svc:context", Type: workerd.ESModule, Source: `export * from "svc-internal:context";`, Public: true},
		{Name: "svc:console", Type: workerd.ESModule, Source: console, Public: true},
		{Name: "cloudflare-internal:email", Type: workerd.ESModule, Source: email},
		{Name: "svc:subrequests", Type: workerd.ESModule, Source: counted, Public: true},
	}
}

// Before is modules, whose first is a worker's main module, with the entry module in front.
func Before(modules []workerd.Module) []workerd.Module {
	main := "./" + modules[0].Name
	return slices.Insert(slices.Clone(modules), 0, workerd.Module{
		Name: name(modules), Type: workerd.ESModule, Source: fmt.Sprintf("import \"svc:console\";\nimport \"svc:subrequests\";\nimport * as worker from %[1]s;\nexport * from %[1]s;\n%[2]s", literal(main), source),
	})
}

// name is a name for the entry module that none of modules has.
func name(modules []workerd.Module) string {
	n := "svc-entry.js"
	for slices.ContainsFunc(modules, func(m workerd.Module) bool { return m.Name == n }) {
		n = "_" + n
	}
	return n
}

// literal is s in JavaScript.
func literal(s string) string {
	text, err := json.Marshal(s)
	if err != nil { // a string always encodes
		return `""`
	}
	return string(text)
}

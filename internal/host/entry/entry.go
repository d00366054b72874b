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
	//go:embed collect.js
	collect string
	//go:embed console.js
	console string
	//go:embed record.js
	record string
	//go:embed websocket.js
	websocket string
	//go:embed subrequests.js
	subrequests string
	//go:embed alarms.js
	alarms string
	//go:embed waiting.js
	waiting string
	//go:embed trace.js
	trace string
	//go:embed platform.js
	platform string
	//go:embed email.js
	email string
)

// Extensions are the modules that know the Invocation of an event. The entry module stands
// among the worker's own modules and cannot import those of the platform (svc-internal:…), so
// a public one, svc:platform, loads them all and exports what it needs. One module for each of
// them would make a start longer by a quarter of a millisecond.
//
//   - context has the Invocation that runs,
//   - collect collects garbage between invocations where V8 lets it,
//   - console gives lines of the console the id of their invocation,
//   - record writes what else a log has about an invocation,
//   - trace gives spans of traced invocations and of their calls of bindings, if traced is set,
//   - websocket makes the listeners of websockets invocations,
//   - alarms has the alarms of Durable Objects wait, from the start if held is set,
//   - waiting counts the work of waitUntil that is not over, and alarms that run,
//   - subrequests refuses the calls of fetch of an invocation beyond limit; 0 is no limit.
//
// cloudflare-internal:email makes the module cloudflare:email of workers.
func Extensions(limit int, traced, held bool) []workerd.Module {
	counted := fmt.Sprintf("const LIMIT = %d;\n%s", limit, subrequests)
	if limit == 0 {
		counted = ""
	}
	return []workerd.Module{
		{Name: "svc-internal:context", Type: workerd.ESModule, Source: context},
		{Name: "svc-internal:collect", Type: workerd.ESModule, Source: collect},
		{Name: "svc-internal:console", Type: workerd.ESModule, Source: console},
		{Name: "svc-internal:record", Type: workerd.ESModule, Source: record},
		{Name: "svc-internal:trace", Type: workerd.ESModule, Source: fmt.Sprintf("const TRACED = %t;\n%s", traced, trace)},
		{Name: "svc-internal:websocket", Type: workerd.ESModule, Source: websocket},
		{Name: "svc-internal:alarms", Type: workerd.ESModule, Source: fmt.Sprintf("const HELD = %t;\n%s", held, alarms)},
		{Name: "svc-internal:waiting", Type: workerd.ESModule, Source: waiting},
		{Name: "svc-internal:subrequests", Type: workerd.ESModule, Source: counted},
		{Name: "svc:platform", Type: workerd.ESModule, Source: platform, Public: true},
		{Name: "cloudflare-internal:email", Type: workerd.ESModule, Source: email},
	}
}

// Waiting is the entrypoint of the worker for requests of the host. Each answer is a number.
const Waiting = "svc:waiting"

// The paths of Waiting.
const (
	PathWorks  = "/"             // works that were given to waitUntil and are not over
	PathAlarms = "/alarms"       // alarms of Durable Objects that run
	PathHold   = "/alarms/hold"  // as PathAlarms; no further one begins
	PathBegin  = "/alarms/begin" // as PathAlarms; those that are due begin
)

// Files is the name of the binding of the worker to its static files, as visitors see them. The
// service answers a request that is the worker's with the header Svc-Worker. The worker does not see
// the binding.
const Files = "svc:files"

// filesSource takes the binding before the worker's modules run.
const filesSource = `import { env } from "cloudflare:workers"; export default env["` + Files + `"]; delete env["` + Files + `"];`

// Objects is the name of a binding to Durable Objects of a worker without one, whose calls by
// ctx.exports take turns by what the binding loads. The worker does not see it.
const Objects = "svc:objects"

// objectsSource takes the binding away before the worker's modules run.
const objectsSource = `import { env } from "cloudflare:workers"; delete env["` + Objects + `"];`

// Before is modules, whose first is a worker's main module, with the entry module in front. With
// files, the worker has the binding Files, with objects the binding Objects.
func Before(modules []workerd.Module, files, objects bool) []workerd.Module {
	main, first, all := "./"+modules[0].Name, "const files = undefined;\n", slices.Clone(modules)
	if files {
		m := workerd.Module{Name: name(all, "svc-files.js"), Type: workerd.ESModule, Source: filesSource}
		first, all = "import files from "+literal("./"+m.Name)+";\n", append(all, m)
	}
	if objects {
		m := workerd.Module{Name: name(all, "svc-objects.js"), Type: workerd.ESModule, Source: objectsSource}
		first, all = "import "+literal("./"+m.Name)+";\n"+first, append(all, m)
	}
	return slices.Insert(all, 0, workerd.Module{
		Name: name(all, "svc-entry.js"), Type: workerd.ESModule,
		Source: fmt.Sprintf("import \"svc:platform\";\n%[3]simport * as worker from %[1]s;\nexport * from %[1]s;\n%[2]s", literal(main), source, first),
	})
}

// name is a name like n for a module that none of modules has.
func name(modules []workerd.Module, n string) string {
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

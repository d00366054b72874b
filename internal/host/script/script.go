// Package script runs workers in service-worker format: scripts that register their
// handlers with addEventListener and find their bindings among the globals.
//
// workerd has this format too, without modules: neither the bindings that a module makes
// (D1, and all of the platform's) nor Node's modules work in it. Here the script is a
// CommonJS module, which is sloppy code as a script is, behind modules that give it its
// globals and its events.
//
// Concurrency: all functions may be called at any time.
package script

import (
	_ "embed"
	"encoding/json"
	"slices"

	"github.com/svcctl/svcctl/internal/host/workerd"
)

//go:embed events.js
var events string

const (
	mainName   = "svc-script.js"
	eventsName = "svc-script-events.js"
)

// Modules are the modules of a worker whose first module is a script.
func Modules(modules []workerd.Module) []workerd.Module {
	modules = slices.Clone(modules)
	modules[0].Type = workerd.CommonJS
	name, _ := json.Marshal("./" + modules[0].Name) // a string always encodes
	// Imports are evaluated in their order: the script finds its globals.
	main := `import { handlers } from "./` + eventsName + `"; import ` + string(name) + `; export default handlers();`
	return append([]workerd.Module{
		{Name: mainName, Type: workerd.ESModule, Source: main},
		{Name: eventsName, Type: workerd.ESModule, Source: events},
	}, modules...)
}

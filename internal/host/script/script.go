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

package project

import (
	"slices"

	"github.com/svcctl/svcctl/internal/host/binding/kinds"
)

// use says what happens to a key.
type use int

const (
	taken       use = iota // read by this package
	passedOver             // means nothing here; named once in a notice
	silent                 // as passedOver, and not worth a word
	unsupported            // would add something that is not run: refused unless empty
	retired                // read by older wranglers: the hint says what it became
)

// keyRule is what is known about one key of a project file.
type keyRule struct {
	use     use
	owned   bool // belongs to each environment alone; wrangler: "not inherited"
	topOnly bool // allowed at the top level only, and meant for all environments
	hint    string
}

const (
	noCloud  = "it is a service of Cloudflare's platform"
	noLegacy = "import the file as a module instead"
	notRun   = "this version of svcctl does not run it"
)

// keys are the keys of wrangler 4's schema, and those that its generated files
// and older project files hold.
//
//nolint:gochecknoglobals // a constant table
var keys = withKinds(map[string]keyRule{
	"name": {}, "main": {}, "compatibility_date": {}, "compatibility_flags": {},
	"rules": {}, "no_bundle": {}, "find_additional_modules": {}, "preserve_file_names": {}, "base_dir": {},
	"build": {}, "minify": {}, "keep_names": {}, "tsconfig": {}, "jsx_factory": {}, "jsx_fragment": {},
	"upload_source_maps": {},
	"vars":               {owned: true},
	"define":             {owned: true},
	"alias":              {topOnly: true},
	"env":                {topOnly: true},

	"route": {use: passedOver}, "routes": {use: passedOver},
	"workers_dev": {use: passedOver}, "preview_urls": {use: passedOver}, "placement": {use: passedOver},
	"logpush": {use: passedOver}, "observability": {use: passedOver}, "limits": {},
	"cache": {use: passedOver}, "compliance_region": {use: passedOver}, "previews": {},
	"first_party_worker": {use: passedOver},
	"secrets":            {owned: true},
	"send_metrics":       {use: passedOver, topOnly: true}, "dev": {use: passedOver, topOnly: true},
	"keep_vars": {use: passedOver, topOnly: true}, "dependencies_instrumentation": {use: passedOver, topOnly: true},

	"$schema": {use: silent, topOnly: true}, "configPath": {use: silent, topOnly: true},
	"userConfigPath": {use: silent, topOnly: true}, "topLevelName": {use: silent, topOnly: true},
	"definedEnvironments": {use: silent, topOnly: true}, "targetEnvironment": {use: silent, topOnly: true},
	"python_modules": {use: silent},

	"assets": {},

	"migrations": {}, "exports": {},
	"tail_consumers":           {owned: true},
	"streaming_tail_consumers": {use: unsupported, owned: true},
	"worker_loaders":           {use: unsupported, owned: true},
	"connect":                  {use: unsupported, owned: true},
	"unsafe":                   {use: unsupported, owned: true}, "unsafe_hello_world": {use: unsupported, owned: true},
	"logfwdr": {use: unsupported, owned: true}, "mtls_certificates": {use: unsupported, owned: true},

	"ai_search":            {use: unsupported, owned: true, hint: noCloud},
	"ai_search_namespaces": {use: unsupported, owned: true, hint: noCloud},
	"agent_memory":         {use: unsupported, owned: true, hint: noCloud},
	"vectorize":            {use: unsupported, owned: true, hint: noCloud},
	"browser":              {use: unsupported, owned: true, hint: noCloud}, "analytics": {use: unsupported, owned: true, hint: noCloud},
	"images": {use: unsupported, owned: true, hint: noCloud}, "media": {use: unsupported, owned: true, hint: noCloud},
	"stream": {use: unsupported, owned: true, hint: noCloud}, "dispatch_namespaces": {use: unsupported, owned: true, hint: noCloud},
	"pipelines": {use: unsupported, owned: true, hint: noCloud}, "k2": {use: unsupported, owned: true, hint: noCloud},
	"artifacts": {use: unsupported, owned: true, hint: noCloud}, "flagship": {use: unsupported, owned: true, hint: noCloud},
	"vpc_services": {use: unsupported, owned: true, hint: noCloud}, "vpc_networks": {use: unsupported, owned: true, hint: noCloud},
	"cloudchamber": {use: unsupported, hint: noCloud}, "containers": {use: unsupported, hint: noCloud},
	"access": {use: unsupported, hint: "requests would arrive without Cloudflare Access's check; put one in front of the gateway"},

	"addresses": {use: unsupported, topOnly: true}, "site": {use: unsupported, topOnly: true, hint: "use assets in its place"},
	"pages_build_output_dir": {topOnly: true},
	"wasm_modules":           {use: unsupported, topOnly: true, hint: noLegacy},
	"text_blobs":             {use: unsupported, topOnly: true, hint: noLegacy},
	"data_blobs":             {use: unsupported, topOnly: true, hint: noLegacy},

	"account_id":            {use: retired, hint: "a server has no accounts; --server or SVCCTL_SERVER names the server"},
	"zone_id":               {use: retired, hint: "the server derives host names from its base domain"},
	"type":                  {use: retired, hint: "modules, JSX and TypeScript need no setting"},
	"webpack_config":        {use: retired, hint: "esbuild bundles the worker; for another bundler set build.command"},
	"node_compat":           {use: retired, hint: "add the compatibility flag nodejs_compat"},
	"usage_model":           {use: retired, hint: "limits has its place"},
	"legacy_env":            {use: retired, hint: "each environment is a project of its own, as with legacy_env = true"},
	"legacy_assets":         {use: retired, hint: "assets has its place"},
	"kv-namespaces":         {use: retired, hint: "write kv_namespaces"},
	"experimental_services": {use: retired, hint: "services has its place"},
	"miniflare":             {use: retired, hint: "dev has its place"},
	"jsx":                   {use: retired, hint: "use jsx_factory and jsx_fragment"},
})

// retiredBuild are the retired keys of build.
//
//nolint:gochecknoglobals // a constant table
var retiredBuild = map[string]string{"upload": "main, rules and base_dir at the top level have its place"}

// withKinds adds the keys that declare bindings.
func withKinds(rules map[string]keyRule) map[string]keyRule {
	for _, k := range kinds.All() {
		rules[k.ConfigKey] = keyRule{owned: !k.Inherited}
	}
	return rules
}

// ownedKeys are the keys that are read and that no environment inherits.
func ownedKeys() []string {
	list := []string{"vars", "define"}
	for _, k := range kinds.All() {
		if !k.Inherited && !slices.Contains(list, k.ConfigKey) {
			list = append(list, k.ConfigKey)
		}
	}
	return list
}

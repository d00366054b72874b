package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	maxNameBytes = 128
	maxRuleBytes = 8192 // of a text in a rule of the assets
)

//nolint:gochecknoglobals // constant tables
var ( //nolint:gochecknoglobals // constants
	flagPattern  = pattern(`^[a-z][a-z0-9_-]{0,127}$`)
	kindPattern  = pattern(`^[a-z][a-z0-9_]{0,63}$`)
	namePattern  = pattern(`^[A-Za-z_$][A-Za-z0-9_$]{0,127}$`)
	tablePattern = pattern(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	// headerPattern is a token of RFC 9110.
	headerPattern = pattern("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$")
	hashPattern   = pattern(`^[0-9a-f]{64}$`)

	moduleTypes   = []ModuleType{ESModule, CommonJS, Text, Data, Wasm, JSON, Script}
	reservedNames = []string{svc.EnvProjectID, svc.EnvVersionID}
)

// Validate checks every field and reports all problems in one error. It does not
// check the files, nor whether compatibility flags and binding kinds exist, which
// only the runtime knows.
func (m Manifest) Validate() error {
	var p problems
	if m.SchemaVersion != SchemaVersion {
		p.add("/schema_version", svc.CodeManifestVersion, "unknown format %d; this program reads format %d", m.SchemaVersion, SchemaVersion)
	}
	if badText(m.Name) {
		p.add("/name", svc.CodeManifestInvalid, "at most %d bytes of text without control characters", maxNameBytes)
	}
	p.modules(m)
	p.compatibility(m)
	p.env(m)
	p.seeds(m)
	p.migrations(m)
	p.sourceMaps(m)
	p.queues(m)
	p.objectClasses(m)
	p.assets(m)
	p.paths(m)
	p.crons(m)
	p.tails(m)
	p.runtimeLimits(m)
	p.release(m)
	return svc.Invalid(p)
}

type problems []svc.FieldError

func (p *problems) add(pointer, code, format string, args ...any) {
	*p = append(*p, svc.FieldError{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)})
}

func (p *problems) runtimeLimits(m Manifest) {
	if m.Limits == nil {
		return
	}
	if mb := m.Limits.MemoryMB; mb != 0 && mb < MinMemoryMB {
		p.add("/limits/memory_mb", svc.CodeManifestInvalid, "want at least %d MiB", MinMemoryMB)
	}
	if m.Limits.Subrequests < 0 {
		p.add("/limits/subrequests", svc.CodeManifestInvalid, "want at least 1 call")
	}
}

func (p *problems) modules(m Manifest) {
	if len(m.Modules) == 0 && m.hasWorker() {
		p.add("/modules", svc.CodeManifestInvalid, "want at least one module")
	}
	for i, mod := range m.Modules {
		at := "/modules/" + strconv.Itoa(i)
		if why := badModuleName(mod.Name); why != "" {
			p.add(at+"/name", svc.CodeManifestInvalid, "the module name %q %s", mod.Name, why)
		}
		if !slices.Contains(moduleTypes, mod.Type) {
			p.add(at+"/type", svc.CodeModuleTypeUnknown, "the module %q has the unknown type %q; want esm, commonjs, text, data, wasm, json or script", mod.Name, mod.Type)
		}
		p.content(at, mod.SHA256, mod.Size)
	}
	p.main(m)
}

func (p *problems) main(m Manifest) {
	i := slices.IndexFunc(m.Modules, func(mod Module) bool { return mod.Name == m.Main })
	switch {
	case !m.hasWorker():
	case m.Main == "":
		p.add("/main", svc.CodeManifestInvalid, "the name of the entry module is missing")
	case len(m.Modules) == 0: // reported by modules
	case i < 0:
		p.add("/main", svc.CodeManifestInvalid, "the entry module %q is not among the modules", m.Main)
	case m.Modules[i].Type != ESModule && m.Modules[i].Type != Script:
		p.add("/main", svc.CodeManifestInvalid, "the entry module %q is of type %q and must be esm or script", m.Main, m.Modules[i].Type)
	}
	for i, mod := range m.Modules {
		if mod.Type == Script && mod.Name != m.Main {
			p.add("/modules/"+strconv.Itoa(i)+"/type", svc.CodeManifestInvalid, "the module %q is of type script, which only the entry module may be", mod.Name)
		}
	}
}

func badModuleName(name string) string {
	if strings.Contains(name, ":") {
		return "has a colon"
	}
	return badPath(name)
}

func (p *problems) content(at, hash string, size int64) {
	if !hashPattern().MatchString(hash) {
		p.add(at+"/sha256", svc.CodeManifestInvalid, "want 64 lower-case hex digits")
	}
	if size < 0 {
		p.add(at+"/size", svc.CodeManifestInvalid, "want a size of at least 0")
	}
}

func (p *problems) compatibility(m Manifest) {
	if _, err := time.Parse(time.DateOnly, m.CompatibilityDate); err != nil {
		p.add("/compatibility_date", svc.CodeManifestInvalid, "%q is not a date of the form YYYY-MM-DD", m.CompatibilityDate)
	}
	seen := map[string]bool{}
	for i, flag := range m.CompatibilityFlags {
		at := "/compatibility_flags/" + strconv.Itoa(i)
		if !flagPattern().MatchString(flag) {
			p.add(at, svc.CodeManifestInvalid, "%q is not the name of a compatibility flag", flag)
		}
		if seen[flag] {
			p.add(at, svc.CodeManifestInvalid, "%q is listed twice", flag)
		}
		seen[flag] = true
	}
}

// limits applies the rules for overrides to variables, except for the characters of
// a name: wrangler allows more.
// spec: [C5.13] to [C5.16].
func (p *problems) limits(vars map[string]Var) {
	texts := make(map[string]string, len(vars))
	for name, v := range vars {
		texts[name] = string(v.JSON)
		if v.Text != nil {
			texts[name] = *v.Text
		}
	}
	for _, e := range svc.CheckEnv(texts, "/vars") {
		if e.Code != svc.CodeEnvInvalidKey {
			*p = append(*p, e)
		}
	}
}

// env checks the names in a worker's env, which variables and bindings share.
func (p *problems) env(m Manifest) {
	p.limits(m.Vars)
	for _, name := range slices.Sorted(maps.Keys(m.Vars)) {
		at := "/vars/" + escapePointer(name)
		if why := BadVarName(name); why != "" && !slices.Contains(reservedNames, name) { // reported by limits
			p.add(at, svc.CodeManifestInvalid, "the name %q of a variable %s", name, why)
		}
		if v := m.Vars[name]; v.Text == nil && !json.Valid(v.JSON) {
			p.add(at, svc.CodeManifestInvalid, "the variable %q has no value", name)
		}
	}
	taken := map[string]bool{}
	for i, b := range m.Bindings {
		at := "/bindings/" + strconv.Itoa(i)
		p.binding(at, b)
		if _, isVar := m.Vars[b.Name]; isVar {
			p.add(at+"/name", svc.CodeManifestInvalid, "%q is also the name of a variable", b.Name)
		}
		if taken[b.Name] {
			p.add(at+"/name", svc.CodeManifestInvalid, "%q is bound twice", b.Name)
		}
		taken[b.Name] = true
	}
}

func (p *problems) binding(at string, b Binding) {
	if why := BadBindingName(b.Name); why != "" {
		p.add(at+"/name", svc.CodeManifestInvalid, "the binding name %q %s", b.Name, why)
	}
	if !kindPattern().MatchString(b.Kind) {
		p.add(at+"/kind", svc.CodeManifestInvalid, "%q is not a binding kind", b.Kind)
	}
	if badText(b.Resource) {
		p.add(at+"/resource", svc.CodeManifestInvalid, "at most %d bytes of text without control characters", maxNameBytes)
	}
	if len(b.Config) > 0 && !isObject(b.Config) {
		p.add(at+"/config", svc.CodeManifestInvalid, "want a JSON object")
	}
}

func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}

// escapePointer writes s as one segment of a JSON pointer (RFC 6901).
func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}

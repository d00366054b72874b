package bundle

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// What a Difference is about.
const (
	DiffModule    = "module"
	DiffAsset     = "asset"
	DiffMigration = "migration"
	DiffSeed      = "seed"
	DiffSourceMap = "source_map"
	DiffBinding   = "binding"
	DiffSetting   = "setting"
)

// Difference is one thing that two bundles do not have in common. One of Before and After
// is nil if only the other bundle has it.
type Difference struct {
	What, Name    string
	Before, After *Side
}

// Side is one side of a Difference.
type Side struct {
	Text  string // kind and resource of a binding; value of a setting
	Bytes int64  // size of a file
	same  string // differs if the side differs
}

// Diff returns what differs between two bundles, sorted: files, bindings, settings.
// Values of variables are not compared.
func Diff(from, to Manifest) []Difference {
	list := slices.Concat(
		diffSides("", filesOf(from), filesOf(to)),
		diffSides(DiffBinding, bindingsOf(from), bindingsOf(to)),
		diffSides(DiffSetting, settingsOf(from), settingsOf(to)),
	)
	for i := range list {
		if list[i].What == "" {
			list[i].What, list[i].Name = whatOf(list[i].Name)
		}
	}
	return list
}

func diffSides(what string, from, to map[string]Side) (list []Difference) {
	names := maps.Clone(from)
	maps.Copy(names, to)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, had := from[name]
		after, has := to[name]
		if had && has && before == after {
			continue
		}
		d := Difference{What: what, Name: name}
		if had {
			d.Before = &before
		}
		if has {
			d.After = &after
		}
		list = append(list, d)
	}
	return list
}

func filesOf(m Manifest) map[string]Side {
	sides := map[string]Side{}
	for _, f := range m.Files() {
		sides[f.Path] = Side{Bytes: f.Size, same: f.SHA256}
	}
	for _, mod := range m.Modules {
		path := ModulePath(mod.Name)
		side := sides[path]
		side.Text = string(mod.Type)
		sides[path] = side
	}
	return sides
}

// whatOf says what a path of a bundle is, and its name as such.
func whatOf(path string) (what, name string) {
	for dir, what := range map[string]string{
		modulesDir: DiffModule, assetsDir: DiffAsset, migrationsDir: DiffMigration, sourceMapsDir: DiffSourceMap, seedsDir: DiffSeed,
	} {
		if name, ok := strings.CutPrefix(path, dir); ok {
			return what, name
		}
	}
	return DiffAsset, path
}

func bindingsOf(m Manifest) map[string]Side {
	sides := map[string]Side{}
	for _, b := range m.Bindings {
		sides[b.Name] = Side{Text: strings.TrimSpace(b.Kind + " " + b.Resource), same: string(b.Config)}
	}
	return sides
}

// settingsOf has the settings that differ from nothing.
func settingsOf(m Manifest) map[string]Side {
	values := map[string]string{
		"main": m.Main, "compatibility_date": m.CompatibilityDate, "compatibility_flags": strings.Join(m.CompatibilityFlags, ", "),
		"crons": strings.Join(m.Crons, ", "),
	}
	if m.Limits != nil {
		values["memory_mb"] = strconv.Itoa(m.Limits.MemoryMB)
	}
	for _, q := range m.QueueConsumers {
		values["queue_consumer "+q.Queue] = encoded(q)
	}
	for _, c := range m.ObjectClasses {
		values["object_class "+cmp.Or(c.Key, c.Name)] = encoded(c)
	}
	if len(m.TailConsumers) > 0 {
		values["tail_consumers"] = encoded(m.TailConsumers)
	}
	if m.Release != nil {
		values["release"] = encoded(m.Release)
	}
	if a := m.Assets; a != nil {
		rules := *a
		rules.Files, rules.Detached = nil, false
		values["assets"] = encoded(rules)
	}
	sides := map[string]Side{}
	for name, value := range values {
		if value != "" {
			sides[name] = Side{Text: value}
		}
	}
	return sides
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // manifests are plain data
		panic("bundle: a manifest does not encode: " + err.Error())
	}
	return string(b)
}

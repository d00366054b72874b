package project

import (
	"maps"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// Missing is a binding that is not supported and that the project allows to be missing.
type Missing struct {
	Binding string
	Key     string // of the project file: "ai"
}

// Unsupported is a key of a project file that is not supported.
type Unsupported struct {
	Key       string   `json:"key"`
	Bindings  []string `json:"bindings"`
	Allowable bool     `json:"allowable"` // --allow-missing deploys without it
	Allowed   bool     `json:"allowed"`
}

// mayMiss reports whether a project can be deployed without what a key adds.
func mayMiss(key string) bool {
	rule, known := keys[key]
	if key == "services" || key == "tail_consumers" { // projects that do not exist yet
		return true
	}
	return known && rule.use == unsupported && (rule.owned || key == "containers" || key == "cloudchamber" || key == "addresses")
}

// allow reads which keys may be missing: those of the command line and of the section
// svcctl, also in the project's own file when a build tool generated another one.
func (l *layers) allow() {
	l.allowed = map[string]bool{}
	for _, key := range l.flags.AllowMissing {
		l.allowKey(l.r, key, "--allow-missing", pos{line: 1, col: 1})
	}
	l.allowSection(l.r, l.get("svcctl"), l.path("svcctl"))
	if l.flags.own != nil {
		own := &reader{file: l.flags.shownOwn}
		l.allowSection(own, l.flags.own.get("svcctl"), "svcctl")
		l.r.fields, l.r.notices = append(l.r.fields, own.fields...), append(l.r.notices, own.notices...)
	}
}

func (l *layers) allowSection(r *reader, n *node, at string) {
	if n == nil || !r.is(n, at, kindObject) {
		return
	}
	r.only(n, at, "allow_missing", "promote", "release", "assets", "history")
	list := n.get("allow_missing")
	if list == nil || !r.is(list, at+".allow_missing", kindArray) {
		return
	}
	for _, item := range list.items {
		if r.is(item, at+".allow_missing", kindString) {
			l.allowKey(r, item.text, at+".allow_missing", item.pos)
		}
	}
}

func (l *layers) allowKey(r *reader, key, at string, p pos) {
	rule, known := keys[key]
	switch {
	case mayMiss(key):
		l.allowed[key] = true
	case known && rule.use != unsupported:
		r.warn(p, "%s names %s, which is no longer needed: %s is not missing", at, key, key)
	case known:
		r.problem(svc.CodeConfigInvalid, at, p, "%s names %s, without which a worker cannot be deployed", at, key)
	default:
		all := slices.DeleteFunc(slices.Sorted(maps.Keys(keys)), func(key string) bool { return !mayMiss(key) })
		r.problem(svc.CodeConfigInvalid, at, p, "%s names %q, which is no key of a project file; it can name %s", at, key, strings.Join(all, ", "))
	}
}

// added reports whether a build tool added a key: Astro's adds images to every project.
// What the project itself asks for must not be missing by surprise; this may be.
func (l *layers) added(key string) bool {
	own := l.flags.own
	if own == nil || l.flags.typed || !mayMiss(key) || own.get(key) != nil {
		return false
	}
	if envs := own.get("env"); envs != nil {
		for _, m := range envs.members {
			if m.val.get(key) != nil {
				return false
			}
		}
	}
	return true
}

// lack handles a key that is not supported: a problem, or bindings that are missing.
func (l *layers) lack(f *File, path string, m member, hint string) {
	found := Unsupported{Key: m.key, Bindings: []string{}, Allowable: mayMiss(m.key), Allowed: l.allowed[m.key]}
	why := "--allow-missing"
	if !found.Allowed && l.added(m.key) {
		found.Allowed, why = true, "the build of the project added it"
	}
	for _, name := range declaredNames(m.val) {
		found.Bindings = append(found.Bindings, name.text)
		if found.Allowed {
			l.r.bindResource(name.text, path, name.pos)
			f.Missing = append(f.Missing, Missing{Binding: name.text, Key: m.key})
		}
	}
	f.Unsupported = append(f.Unsupported, found)
	switch {
	case found.Allowed && len(found.Bindings) > 0:
		l.r.warn(m.pos, "%s is not supported: every use of %s throws (%s)", path, strings.Join(found.Bindings, ", "), why)
	case found.Allowed:
		l.r.warn(m.pos, "%s is not supported and has no effect (%s)", path, why)
	case found.Allowable:
		l.r.problem(svc.CodeConfigUnsupported, path, m.pos, "%s is not supported: %s (--allow-missing %s deploys without it)", path, hint, m.key)
	default:
		l.r.problem(svc.CodeConfigUnsupported, path, m.pos, "%s is not supported: %s", path, hint)
	}
}

// declaredNames finds the names of bindings in the value of a key: an object, a list of
// objects, or an object with such a list.
func declaredNames(n *node) (names []*node) {
	if n == nil {
		return nil
	}
	if n.kind == kindArray {
		for _, item := range n.items {
			names = append(names, declaredNames(item)...)
		}
		return names
	}
	for _, key := range []string{"binding", "name"} {
		if name := n.get(key); name != nil && name.kind == kindString {
			return []*node{name}
		}
	}
	return declaredNames(n.get("bindings"))
}

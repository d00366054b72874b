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
	return known && rule.use == unsupported && (rule.owned || key == "containers" || key == "cloudchamber")
}

// allow reads which keys may be missing: those of the command line and of the section
// svcctl.
func (l *layers) allow() {
	l.allowed = map[string]bool{}
	for _, key := range l.flags.AllowMissing {
		l.allowKey(key, "--allow-missing", pos{1, 1})
	}
	at, n := l.path("svcctl"), l.get("svcctl")
	if n == nil || !l.r.is(n, at, kindObject) {
		return
	}
	l.r.members(n, at, []string{"allow_missing"}, nil)
	list := n.get("allow_missing")
	if list == nil || !l.r.is(list, at+".allow_missing", kindArray) {
		return
	}
	for _, item := range list.items {
		if l.r.is(item, at+".allow_missing", kindString) {
			l.allowKey(item.text, at+".allow_missing", item.pos)
		}
	}
}

func (l *layers) allowKey(key, at string, p pos) {
	rule, known := keys[key]
	switch {
	case mayMiss(key):
		l.allowed[key] = true
	case known && rule.use != unsupported:
		l.r.warn(p, "%s names %s, which is no longer needed: %s is not missing", at, key, key)
	case known:
		l.r.problem(svc.CodeConfigInvalid, at, p, "%s names %s, without which a worker cannot be deployed", at, key)
	default:
		all := slices.DeleteFunc(slices.Sorted(maps.Keys(keys)), func(key string) bool { return !mayMiss(key) })
		l.r.problem(svc.CodeConfigInvalid, at, p, "%s names %q, which is no key of a project file; it can name %s", at, key, strings.Join(all, ", "))
	}
}

// lack handles a key that is not supported: a problem, or bindings that are missing.
func (l *layers) lack(f *File, path string, m member, hint string) {
	found := Unsupported{Key: m.key, Bindings: []string{}, Allowable: mayMiss(m.key), Allowed: l.allowed[m.key]}
	for _, name := range declaredNames(m.val) {
		found.Bindings = append(found.Bindings, name.text)
		if found.Allowed {
			l.r.bind(name.text, path, name.pos)
			f.Missing = append(f.Missing, Missing{Binding: name.text, Key: m.key})
		}
	}
	f.Unsupported = append(f.Unsupported, found)
	switch {
	case found.Allowed && len(found.Bindings) > 0:
		l.r.warn(m.pos, "%s is not supported: every use of %s throws (--allow-missing)", path, strings.Join(found.Bindings, ", "))
	case found.Allowed:
		l.r.warn(m.pos, "%s is not supported and has no effect (--allow-missing)", path)
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

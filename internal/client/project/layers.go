package project

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// layers are the top level of a file and, when one is chosen, the section of an
// environment on it.
type layers struct {
	r     *reader
	flags Options // what wins over the file
	top   *node
	env   *node  // nil for the top level
	name  string // of the environment
	over  *node  // the section previews, if it holds; else nil
	at    string // what messages call it

	allowed map[string]bool // unsupported keys that may be missing
}

// get finds the value of a key that holds: the environment's own, or the top
// level's when it is inherited.
func (l *layers) get(key string) *node {
	below := l.below(key)
	n := l.over.get(key)
	switch {
	case n == nil || keys[key].topOnly:
		return below
	case (key == "vars" || key == "define") && n.kind == kindObject && below != nil && below.kind == kindObject:
		return below.with(n)
	}
	return n
}

// below finds the value of a key without the section previews.
func (l *layers) below(key string) *node {
	rule := keys[key]
	if l.env == nil || rule.topOnly {
		return l.top.get(key)
	}
	if n := l.env.get(key); n != nil || rule.owned {
		return n
	}
	return l.top.get(key)
}

// path is how messages name a key: "env.staging.vars".
func (l *layers) path(key string) string {
	if l.over.get(key) != nil && !keys[key].topOnly {
		return l.at + "." + key
	}
	if l.env != nil && !keys[key].topOnly && (keys[key].owned || l.env.get(key) != nil) {
		return "env." + l.name + "." + key
	}
	return key
}

// judge goes through all keys: what is unknown, not supported or passed over.
func (l *layers) judge(f *File) {
	for _, m := range l.top.members {
		if l.env != nil && keys[m.key].owned {
			continue // it is not in effect
		}
		if l.env != nil && !keys[m.key].topOnly && l.env.get(m.key) != nil {
			continue // the environment has its own
		}
		l.judgeKey(f, m.key, m)
	}
	l.judgeOver(f)
	if l.env == nil {
		return
	}
	for _, m := range l.env.members {
		path := "env." + l.name + "." + m.key
		if keys[m.key].topOnly {
			l.r.problem(svc.CodeConfigInvalid, path, m.pos, "%q belongs at the top level of the file", path)
			continue
		}
		l.judgeKey(f, path, m)
	}
	l.missing()
}

// preview takes the section previews of the environment, or else of the top level.
func (l *layers) preview(holds bool) {
	n := l.get("previews")
	if n == nil || !l.r.is(n, l.path("previews"), kindObject) || !holds {
		return
	}
	l.over, l.at = n, l.path("previews")
}

// judgeOver goes through the keys of the section previews.
func (l *layers) judgeOver(f *File) {
	if l.over == nil {
		return
	}
	for _, m := range l.over.members {
		path := l.at + "." + m.key
		if keys[m.key].topOnly || m.key == "name" || m.key == "previews" {
			l.r.problem(svc.CodeConfigInvalid, path, m.pos, "%q has no place in %s: previews are versions of the same project", path, l.at)
			continue
		}
		l.judgeKey(f, path, m)
	}
}

func (l *layers) judgeKey(f *File, path string, m member) {
	rule, known := keys[m.key]
	switch {
	case !known:
		l.r.unknown(path, m, maps.Keys(keys))
	case rule.use == retired && !generated(m):
		l.r.warn(m.pos, "%s is retired: %s", path, rule.hint)
	case rule.use == passedOver && !m.val.empty():
		l.r.pass(path)
	case m.key == "unsafe" && rateLimitsAlone(m.val): // of older wranglers
	case rule.use == unsupported && !m.val.empty():
		l.lack(f, path, m, cmp.Or(rule.hint, notRun))
	}
}

// generated reports whether a retired key says what holds anyway: build tools write
// "legacy_env": true.
func generated(m member) bool { return m.val.empty() || m.key == "legacy_env" && m.val.yes }

// missing warns of variables and bindings that the top level has and the
// environment has not: they are not inherited, which surprises people.
func (l *layers) missing() {
	for _, key := range ownedKeys() {
		have := namesOf(key, l.env.get(key))
		for _, name := range namesOf(key, l.top.get(key)) {
			if !slices.Contains(have, name) {
				l.r.warn(l.env.pos, "%s has no %q, which the top level has: %s are not inherited", "env."+l.name, name, key)
			}
		}
	}
	for _, m := range l.top.members {
		if rule := keys[m.key]; rule.owned && rule.use == unsupported && !m.val.empty() && l.env.get(m.key) == nil {
			l.r.warn(l.env.pos, "env.%s has no %s, which the top level has: they are not inherited", l.name, m.key)
		}
	}
}

// namesOf lists the names that a section declares.
func namesOf(key string, n *node) []string {
	var names []string
	if n == nil {
		return nil
	}
	switch {
	case n.kind == kindArray:
		for _, item := range n.items {
			b := item.get("binding")
			if b == nil {
				b = item.get("name")
			}
			if b != nil && b.kind == kindString {
				names = append(names, b.text)
			}
		}
	case key == "queues":
		names = append(namesOf("", n.get("producers")), consumed(n)...)
	case key == "durable_objects":
		if list := n.get("bindings"); list != nil {
			for _, item := range list.items {
				if b := item.get("name"); b != nil && b.kind == kindString {
					names = append(names, b.text)
				}
			}
		}
	case key == "version_metadata", key == "ai":
		if b := n.get("binding"); b != nil && b.kind == kindString {
			names = append(names, b.text)
		}
	default:
		for _, m := range n.members {
			names = append(names, m.key)
		}
	}
	return names
}

// consumed lists the queues that have a consumer in a section queues.
func consumed(n *node) []string {
	var names []string
	if list := n.get("consumers"); list != nil {
		for _, item := range list.items {
			if q := item.get("queue"); q != nil && q.kind == kindString {
				names = append(names, q.text)
			}
		}
	}
	return names
}

// choose selects the environment of that name.
func (l *layers) choose(name string) {
	envs := l.top.get("env")
	if envs != nil && !l.r.is(envs, "env", kindObject) {
		return
	}
	var defined []string
	if envs != nil {
		for _, m := range envs.members {
			defined = append(defined, m.key)
		}
	}
	switch {
	case name == "" && len(defined) > 0:
		l.r.notices = append(l.r.notices, Notice{Info, l.r.at(envs.pos), fmt.Sprintf(
			"the top level of the file is used; choose one of its environments (%s) with --env", strings.Join(defined, ", "))})
	case name == "":
	case envs.get(name) != nil:
		if section := envs.get(name); l.r.is(section, "env."+name, kindObject) {
			l.env, l.name = section, name
		}
	case l.generatedFor(name):
	case len(defined) == 0:
		l.r.problem(svc.CodeConfigEnvUnknown, "env", l.top.pos, "the file defines no environments, so there is no %q", name)
	default:
		l.r.problem(svc.CodeConfigEnvUnknown, "env", envs.pos, "there is no environment %q; the file defines %s", name, strings.Join(defined, ", "))
	}
}

// generatedFor is true for a file that a build tool made for this environment.
func (l *layers) generatedFor(name string) bool {
	target := l.top.get("targetEnvironment")
	return target != nil && target.kind == kindString && target.text == name
}

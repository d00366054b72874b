package project

import (
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// The states of a class of Durable Objects in the section exports.
const (
	stateCreated     = "created"
	stateDeleted     = "deleted"
	stateRenamed     = "renamed"
	stateTransferred = "transferred"
	stateExpecting   = "expecting-transfer"
)

// described reads the section exports: it says which classes there are, where migrations say how they came
// about. A class has the key of the name that it had first in the file, so that renamed objects stay.
func (l *layers) described() *objectClasses {
	c := &objectClasses{byName: map[string]bundle.ObjectClass{}, used: map[string]int{}}
	n, at := l.get("exports"), l.path("exports")
	if !l.r.is(n, at, kindObject) {
		return c
	}
	if m := l.get("migrations"); m != nil && !m.empty() {
		l.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s and migrations exclude each other: exports says the same, and migrations can be removed", at)
	}
	before := map[string]string{} // from a name to the name before
	for _, m := range n.members {
		if !l.r.is(m.val, at+"."+m.key, kindObject) {
			continue
		}
		switch kind := l.r.text(m.val.get("type"), at+"."+m.key+".type"); kind {
		case "durable-object":
			l.describe(c, m, at+"."+m.key, before)
		case "worker":
			l.r.members(m.val, at+"."+m.key, []string{"type"}, []string{"cache"})
		case "workflow":
			l.workflowExport(m, at+"."+m.key)
		default:
			l.r.problem(svc.CodeConfigUnsupported, at, m.pos, "%s.%s is of the type %q, which is not supported; the types are durable-object, worker and workflow", at, m.key, kind)
		}
	}
	l.renamed(c, n, at, before)
	return c
}

// describe reads one class.
func (l *layers) describe(c *objectClasses, m member, at string, before map[string]string) {
	l.r.members(m.val, at, []string{"type", "state", "storage", "renamed_to", "transferred_to", "transfer_from", "container"}, nil)
	state := l.r.text(m.val.get("state"), at+".state")
	if b := m.val.get("container"); b != nil {
		l.r.problem(svc.CodeConfigUnsupported, at+".container", b.pos, "%s.container is not supported: containers are not run here", at)
	}
	switch state {
	case "", stateCreated:
		c.add(m.key, l.storage(m.val, at))
	case stateDeleted:
		c.deleted = append(c.deleted, bundle.ObjectClass{Name: m.key, Key: m.key, SQL: true, Deleted: true, Described: true})
	case stateRenamed:
		if to := l.r.text(m.val.get("renamed_to"), at+".renamed_to"); to != "" {
			before[to] = m.key
		} else {
			l.r.problem(svc.CodeConfigInvalid, at, m.pos, `%s is renamed and has no "renamed_to"`, at)
		}
	case stateTransferred, stateExpecting:
		l.r.problem(svc.CodeConfigUnsupported, at+".state", m.pos, "%s is %s, which is not supported: objects do not move between workers; create the class in the other worker and copy what it needs", at, state)
	default:
		l.r.problem(svc.CodeConfigInvalid, at+".state", m.pos, "%s has the state %q; the states are %s, %s and %s", at, state, stateCreated, stateDeleted, stateRenamed)
	}
}

// storage reports whether objects of a class may use SQL.
func (l *layers) storage(n *node, at string) bool {
	s := n.get("storage")
	if s == nil {
		return true
	}
	text := l.r.text(s, at+".storage")
	if text != "sqlite" && text != "legacy-kv" {
		l.r.problem(svc.CodeConfigInvalid, at+".storage", s.pos, `%s.storage is %q; it is "sqlite" or "legacy-kv"`, at, text)
	}
	return text != "legacy-kv"
}

// renamed gives each class the key of its first name.
func (l *layers) renamed(c *objectClasses, n *node, at string, before map[string]string) {
	for name, class := range c.byName {
		class.Described = true
		for seen := []string{name}; before[class.Key] != "" && !slices.Contains(seen, before[class.Key]); {
			class.Key = before[class.Key]
			seen = append(seen, class.Key)
		}
		c.byName[name] = class
	}
	for _, m := range n.members {
		to := m.val.get("renamed_to")
		if to == nil || to.kind != kindString || before[to.text] != m.key {
			continue
		}
		if _, there := c.byName[to.text]; !there && before[before[to.text]] == "" && !l.renames(n, to.text) {
			l.r.problem(svc.CodeConfigInvalid, at+"."+m.key, to.pos, "%s.%s is renamed to %q, which %s does not name: add it with the type durable-object", at, m.key, to.text, at)
		}
	}
}

// renames reports whether a class of the section is renamed itself.
func (l *layers) renames(n *node, name string) bool {
	class := n.get(name)
	return class != nil && class.get("renamed_to") != nil
}

// workflowExport reads what exports say of a workflow. Its binding declares it.
func (l *layers) workflowExport(m member, at string) {
	l.r.members(m.val, at, []string{"type", "name"}, []string{"limits", "concurrency", "default_retention", "jurisdiction"})
	for _, key := range []string{"schedules", "events"} {
		if s := m.val.get(key); s != nil && !s.empty() {
			l.r.problem(svc.CodeConfigUnsupported, at+"."+key, s.pos, "%s.%s is not supported: start the workflow in scheduled(), with a cron", at, key)
		}
	}
}

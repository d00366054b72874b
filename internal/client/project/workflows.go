package project

import (
	"regexp"

	"github.com/svcctl/svcctl/internal/svc"
)

// workflowName is what wrangler takes as the name of a workflow.
var workflowName = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,63}$`)

// workflows reads the workflows, each a class of the worker itself.
func (l *layers) workflows(f *File) {
	classes := map[string]string{} // by the name of a workflow
	l.entries("workflows", func(at string, n *node) {
		l.r.members(n, at, []string{"binding", "name", "class_name", "script_name"}, []string{"limits", "remote"})
		text := func(key string) string {
			value := n.get(key)
			if value == nil {
				l.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s has no %q%s", at, key, typo(n, key))
			}
			return l.r.text(value, at+"."+key)
		}
		w := Workflow{Binding: l.nameOf(n, at, "binding"), Name: text("name"), ClassName: text("class_name")}
		if script := n.get("script_name"); script != nil {
			l.r.problem(svc.CodeConfigUnsupported, at+".script_name", script.pos,
				"%s.script_name is not supported: a workflow is a class of the worker itself", at)
		}
		if w.Name != "" && !workflowName.MatchString(w.Name) {
			l.r.problem(svc.CodeConfigInvalid, at+".name", n.get("name").pos,
				"%s.name is %q; the name of a workflow has 1 to 64 letters, digits, hyphens and underscores, and no hyphen first", at, w.Name)
		}
		if class, known := classes[w.Name]; known && class != w.ClassName {
			l.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s gives the workflow %q the class %s; another entry gives it %s", at, w.Name, w.ClassName, class)
		}
		classes[w.Name] = w.ClassName
		f.Workflows = append(f.Workflows, w)
	})
}

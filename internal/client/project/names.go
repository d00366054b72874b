package project

import (
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// projectName reads the name of the worker and takes the project id that it stands for.
func (l *layers) projectName(f *File) {
	name := l.r.text(l.get("name"), l.path("name"))
	if l.env != nil && l.env.get("name") == nil && name != "" {
		name += "-" + l.name // as wrangler names the worker of an environment
	}
	f.WorkerName = name
	if f.Name = idOf(name); f.Name != name {
		l.r.notices = append(l.r.notices, Notice{Info, l.r.at(l.get("name").pos), fmt.Sprintf("the project id is %s: host names have no underscores", f.Name)})
	}
}

// worker reads the name of another worker as a project id, and says which one it is.
func (l *layers) worker(n *node, at string) string {
	name := l.r.text(n, at)
	id := idOf(name)
	if own := l.get("name"); id != name && (own == nil || own.text != name) {
		l.r.notices = append(l.r.notices, Notice{Info, l.r.at(n.pos), fmt.Sprintf("the worker %s is the project %s: host names have no underscores", name, id)})
	}
	return id
}

// idOf returns the project id of the worker with a name. It differs for a name with an
// underscore, which wrangler takes and a host name cannot have. Any other name that is no id
// is returned unchanged.
func idOf(name string) string {
	if !strings.Contains(name, "_") || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return name
	}
	if id := proposed(name); svc.CheckProjectID(id) == nil {
		return id
	}
	return name
}

// proposed is a project id like a name. It may be none.
func proposed(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), "-")
}

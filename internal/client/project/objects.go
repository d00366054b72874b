package project

import (
	"fmt"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// objects reads durable_objects and the migrations of their classes.
func (l *layers) objects(f *File) {
	classes := l.classes()
	f.ObjectClasses = classes.deleted
	at, n := l.path("durable_objects"), l.get("durable_objects")
	if l.r.is(n, at, kindObject) {
		l.r.members(n, at, []string{"bindings"}, nil)
		if list := n.get("bindings"); l.r.is(list, at+".bindings", kindArray) {
			for i, item := range list.items {
				if where := fmt.Sprintf("%s.bindings[%d]", at, i); l.r.is(item, where, kindObject) {
					l.objectBinding(f, item, where, classes)
				}
			}
		}
	}
	for _, name := range classes.order {
		if c, ok := classes.byName[name]; ok {
			f.ObjectClasses = append(f.ObjectClasses, c)
			delete(classes.byName, name) // a class that was created again is in the order twice
		}
	}
}

// classes are those that the section exports describes, or else those that migrations lead to.
func (l *layers) classes() *objectClasses {
	if n := l.get("exports"); n != nil && !n.empty() {
		return l.described()
	}
	return l.objectMigrations()
}

func (l *layers) objectBinding(f *File, n *node, at string, classes *objectClasses) {
	l.r.members(n, at, []string{"name", "class_name", "script_name", "environment"}, []string{"remote"})
	b := ObjectBinding{Binding: l.r.text(n.get("name"), at+".name"), Class: l.r.text(n.get("class_name"), at+".class_name")}
	switch {
	case b.Binding == "":
		l.r.problem(svc.CodeConfigInvalid, at, n.pos, `%s has no "name"%s`, at, typo(n, "name"))
		return
	case b.Class == "":
		l.r.problem(svc.CodeConfigInvalid, at, n.pos, `%s has no "class_name"%s`, at, typo(n, "class_name"))
		return
	}
	l.r.bindResource(b.Binding, at, n.get("name").pos)
	if s, ok := l.objectService(f, n, at, b); ok {
		f.Services = append(f.Services, s)
		return
	}
	c, known := classes.byName[b.Class]
	if !known {
		l.r.warn(n.pos, `no migration creates the class %q; add "migrations": [{ "tag": "v1", "new_sqlite_classes": [%[1]q] }]`, b.Class)
		c = classes.add(b.Class, true)
	}
	b.Key = c.Key
	f.Objects = append(f.Objects, b)
}

// objectClasses are the classes of a file. A class keeps the key that it got
// when it was created: a rename keeps its objects.
type objectClasses struct {
	byName  map[string]bundle.ObjectClass
	order   []string
	deleted []bundle.ObjectClass
	used    map[string]int // how many classes were created with a name
}

func (c *objectClasses) add(name string, sql bool) bundle.ObjectClass {
	c.used[name]++
	key := name
	if n := c.used[name]; n > 1 { // the objects of the class that was deleted do not come back
		key = fmt.Sprintf("%s.%d", name, n)
	}
	c.byName[name] = bundle.ObjectClass{Name: name, Key: key, SQL: sql}
	c.order = append(c.order, name)
	return c.byName[name]
}

// objectMigrations follows the migrations in their order.
func (l *layers) objectMigrations() *objectClasses {
	c := &objectClasses{byName: map[string]bundle.ObjectClass{}, used: map[string]int{}}
	known := []string{"tag", "new_classes", "new_sqlite_classes", "renamed_classes", "deleted_classes"}
	l.entries("migrations", func(at string, n *node) {
		if t := n.get("transferred_classes"); t != nil && !t.empty() {
			l.r.problem(svc.CodeConfigUnsupported, at+".transferred_classes", t.pos, "%s.transferred_classes is not supported: objects of another worker cannot be taken over", at)
		}
		l.r.members(n, at, append(known, "transferred_classes"), nil)
		for _, name := range l.r.texts(n.get("new_classes"), at+".new_classes") {
			l.create(c, n, at, name, false)
		}
		for _, name := range l.r.texts(n.get("new_sqlite_classes"), at+".new_sqlite_classes") {
			l.create(c, n, at, name, true)
		}
		l.rename(c, n, at)
		for _, name := range l.r.texts(n.get("deleted_classes"), at+".deleted_classes") {
			if gone, ok := l.take(c, n, at, name); ok {
				gone.Deleted = true
				c.deleted = append(c.deleted, gone)
			}
		}
	})
	return c
}

func (l *layers) create(c *objectClasses, n *node, at, name string, sql bool) {
	if _, there := c.byName[name]; there {
		l.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s creates the class %q, which an earlier migration created", at, name)
		return
	}
	c.add(name, sql)
}

func (l *layers) rename(c *objectClasses, n *node, at string) {
	list := n.get("renamed_classes")
	if list == nil || !l.r.is(list, at+".renamed_classes", kindArray) {
		return
	}
	for i, item := range list.items {
		where := fmt.Sprintf("%s.renamed_classes[%d]", at, i)
		if !l.r.is(item, where, kindObject) {
			continue
		}
		l.r.members(item, where, []string{"from", "to"}, nil)
		from, to := l.r.text(item.get("from"), where+".from"), l.r.text(item.get("to"), where+".to")
		if from == "" || to == "" {
			l.r.problem(svc.CodeConfigInvalid, where, item.pos, `%s needs "from" and "to"`, where)
			continue
		}
		if renamed, ok := l.take(c, item, where, from); ok {
			renamed.Name = to
			c.byName[to] = renamed
			c.order = append(c.order, to)
		}
	}
}

// take removes a class.
func (l *layers) take(c *objectClasses, n *node, at, name string) (bundle.ObjectClass, bool) {
	class, ok := c.byName[name]
	if !ok {
		l.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s names the class %q, which no earlier migration creates", at, name)
	}
	delete(c.byName, name)
	return class, ok
}

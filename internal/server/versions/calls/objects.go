package calls

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/services"
	"github.com/svcctl/svcctl/internal/svc"
)

// ObjectKeys returns the keys of the classes of other workers' Durable Objects that the
// worker of m reaches, by services.ObjectKey. Those of projects that do not exist are left out.
func (c Callees) ObjectKeys(ctx context.Context, caller svc.Ref, m *bundle.Manifest) (map[string]string, error) {
	var keys map[string]string
	for _, d := range services.Targets(m, caller) {
		if d.Class == "" {
			continue
		}
		key, err := c.objectKey(ctx, d)
		if err != nil {
			return nil, err
		}
		if key == "" {
			continue
		}
		if keys == nil {
			keys = map[string]string{}
		}
		keys[services.ObjectKey(d.Target, d.Class)] = key
	}
	return keys, nil
}

// objectKey is the key of a class of a target, "" without its project. Of a class that is not deployed
// yet it is the one that it gets as a new class.
func (c Callees) objectKey(ctx context.Context, d services.Declared) (string, error) {
	namespace, exists, err := c.namespace(ctx, d.Target)
	if err != nil || !exists {
		return "", err
	}
	classes, _, err := c.classes(ctx, d.Target)
	if err != nil {
		return "", err
	}
	key := d.Class
	for _, o := range classes {
		if o.Name == d.Class {
			key = o.Key
		}
	}
	return namespace.Key(key), nil
}

// namespace is that of the version that a target is now, or else that of its project.
func (c Callees) namespace(ctx context.Context, t services.Target) (n svc.ObjectNamespace, exists bool, err error) {
	p, err := c.Registry.Project(ctx, t.Project)
	if err != nil {
		return "", false, ignoreAbsent(err)
	}
	ref, err := c.version(ctx, t)
	if err != nil || ref.Version == "" {
		return p.ObjectNamespace, true, err
	}
	v, err := c.Registry.Version(ctx, ref)
	return v.ObjectNamespace, true, err
}

// noClass says that a target has no such class; "" if it has, or is not deployed yet.
func (c Callees) noClass(ctx context.Context, d services.Declared) (string, error) {
	classes, deployed, err := c.classes(ctx, d.Target)
	if err != nil || !deployed {
		return "", err
	}
	names := make([]string, len(classes))
	for i, o := range classes {
		names[i] = o.Name
	}
	switch {
	case slices.Contains(names, d.Class):
		return "", nil
	case len(names) == 0:
		return d.Target.String() + " has no Durable Objects", nil
	}
	return d.Target.String() + " has no Durable Object class " + d.Class + "; it has " + strings.Join(names, ", "), nil
}

// classes are those of the version that a target is now; deployed is false if it is none.
func (c Callees) classes(ctx context.Context, t services.Target) (list []bundle.ObjectClass, deployed bool, err error) {
	ref, err := c.version(ctx, t)
	if err != nil || ref.Version == "" {
		return nil, false, err
	}
	m, err := c.Manifest(ctx, ref)
	if errors.Is(err, svc.NotFound) || errors.Is(err, svc.Gone) {
		return nil, false, nil
	}
	return slices.DeleteFunc(slices.Clone(m.ObjectClasses), func(o bundle.ObjectClass) bool { return o.Deleted }), err == nil, err
}

// version is the version that a target is now; "" for none.
func (c Callees) version(ctx context.Context, t services.Target) (svc.Ref, error) {
	ref := svc.Ref{Project: t.Project, Version: t.Version}
	if t.Version == "" {
		p, err := c.Registry.Project(ctx, t.Project)
		ref.Version = p.ProdVersionID
		return ref, ignoreAbsent(err)
	}
	_, err := c.Registry.Version(ctx, ref)
	if errors.Is(err, svc.NotFound) {
		var p svc.Preview
		p, err = c.Registry.Preview(ctx, t.Project, t.Version)
		ref.Version = p.Current.Version
	}
	return ref, ignoreAbsent(err)
}

func ignoreAbsent(err error) error {
	if errors.Is(err, svc.NotFound) {
		return nil
	}
	return err
}

package bundle

import (
	"slices"

	"github.com/svcctl/svcctl/internal/svc"
)

// ComparedClasses compares the classes of Durable Objects that a manifest describes with those of the
// parent. unnamed are classes of the parent that the manifest does not name: their objects stay in the data,
// out of reach. It is an error if the objects of the parent's class would be left for those of another one
// that has no objects yet: Unprocessable, object_class_differs.
func ComparedClasses(parent, m Manifest) (unnamed []string, err error) {
	if !slices.ContainsFunc(m.ObjectClasses, func(c ObjectClass) bool { return c.Described }) {
		return nil, nil
	}
	for _, before := range parent.ObjectClasses {
		if before.Deleted || slices.ContainsFunc(m.ObjectClasses, func(c ObjectClass) bool { return c.Key == before.Key }) {
			continue
		}
		for _, c := range m.ObjectClasses {
			if c.Name == before.Name || c.Key == before.Name {
				return nil, classDiffers(before, c)
			}
		}
		unnamed = append(unnamed, before.Name)
	}
	return unnamed, nil
}

func classDiffers(before, now ObjectClass) error {
	if before.Key == before.Name {
		return svc.Errorf(svc.Unprocessable, svc.CodeObjectClassDiffers, "exports says that the class %s was %s before, and the parent has objects of %s itself", now.Name, now.Key, before.Name).
			WithHint("remove the entry %s, which is renamed", now.Key)
	}
	e := svc.Errorf(svc.Unprocessable, svc.CodeObjectClassDiffers, "the class %s of the parent was %s before, and its objects would be out of reach: exports does not say so", before.Name, before.Key)
	if !namePattern().MatchString(before.Key) {
		return e.WithHint("the class was deleted and made again by migrations: keep migrations in this project")
	}
	return e.WithHint(`keep "%s": { "type": "durable-object", "state": "renamed", "renamed_to": "%s" } in exports`, before.Key, before.Name)
}

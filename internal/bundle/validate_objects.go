package bundle

import (
	"strconv"

	"github.com/svcctl/svcctl/internal/svc"
)

var classKeyPattern = pattern(`^[A-Za-z0-9_$][A-Za-z0-9_$.-]{0,127}$`) //nolint:gochecknoglobals // a constant

// objectClasses checks the classes of Durable Objects.
func (p *problems) objectClasses(m Manifest) {
	names, keys := map[string]bool{}, map[string]bool{}
	for i, c := range m.ObjectClasses {
		at := "/object_classes/" + strconv.Itoa(i)
		if !namePattern().MatchString(c.Name) {
			p.add(at+"/name", svc.CodeManifestInvalid, "the class name %q is not an identifier of at most %d characters", c.Name, maxNameBytes)
		}
		if !classKeyPattern().MatchString(c.Key) {
			p.add(at+"/key", svc.CodeManifestInvalid, "the key %q is not a name of at most %d letters, digits, dots, hyphens and underscores", c.Key, maxNameBytes)
		}
		if keys[c.Key] {
			p.add(at+"/key", svc.CodeManifestInvalid, "two classes have the key %q", c.Key)
		}
		if !c.Deleted && names[c.Name] {
			p.add(at+"/name", svc.CodeManifestInvalid, "the class %q is listed twice", c.Name)
		}
		keys[c.Key] = true
		names[c.Name] = names[c.Name] || !c.Deleted
	}
}

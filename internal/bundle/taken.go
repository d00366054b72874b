package bundle

import "slices"

// Names reports whether a variable or a binding of the bundle has a name.
func (m Manifest) Names(name string) bool {
	if _, ok := m.Vars[name]; ok {
		return true
	}
	return m.Assets != nil && m.Assets.Binding == name || slices.ContainsFunc(m.Bindings, func(b Binding) bool { return b.Name == name })
}
